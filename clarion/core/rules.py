"""Gradient rules: what one names, and how it is run.

NOTE [Two worlds]: a rule is called on raw arrays, or, under create_graph, on Tensors. It uses operators,
and `ops.name(...)` for everything else: `ops` is the table of kernels in one world, of operations in
the other; both take the same positional arguments (inputs first, then parameters).

NOTE [Spelled out]: a loop over rules and names costs more than most rules. At its first use an operation's `apply_raw`
or `apply_tensors` is written out for its rules and compiled; whatever is unusual takes the general way in op_node.py.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..kernels import registry
from .devices import HALVES, ndarray
from .dtypes import HALF, f32, f64
from .namespace import lifted
from .node import FREED, Mixed
from .op_node import OpNode, fix_raw, fix_tensor
from .saved import PACKED, as_output, check_versions, freed_error, unpack_arrays
from .tensor import Tensor
from .versions import VersionCounter

if TYPE_CHECKING:
    from .op import Op


class Rule:
    """A gradient rule and the names of its arguments after `g`. `run` is what runs it on raw arrays."""

    __slots__ = ("at", "fn", "half", "names", "run")

    def __init__(self, fn: Callable[..., Any], names: tuple[str, ...], at: dict[str, int]) -> None:
        self.fn, self.names, self.at = fn, names, at
        self.run = fn
        self.half: Any = None  # what runs it on half precision as it stands, once somebody has asked

    def __call__(self, g: Any, values: Any, ops: Any) -> Any:
        run = self.run if ops is registry.raw else self.fn
        return run(g, *[ops if name == "ops" else values[self.at[name]] for name in self.names])


def _hands_on(rule: Rule) -> bool:
    """Is the gradient handed on as it is (`lambda g: g`)?"""
    return not rule.names and rule.fn.__code__.co_code == _SAME.__code__.co_code


_SAME = lambda g: g  # noqa: E731  (compared with rules)


def _runs(scope: dict[str, Any], i: int, rule: Rule, run: Callable[..., Any]) -> None:
    """From now on a rule is run so."""
    scope[f"rule{i}"] = rule.run = run


def spelled_at_first_use(op: Op, world: str) -> Callable[..., Any]:
    """Compiling the rules of all operations would cost 0.3 s at import; most programs need few of them."""

    def first(node: Any, g: Any, *more: Any) -> Any:
        spelled = spell_out(op, world) if op.joint is None else spell_out_joint(op)
        setattr(op.node_class, "apply_raw" if world == "raw" else "apply_tensors", spelled)
        return spelled(node, g, *more)

    return first


# The pieces of both spelled-out forms. The unusual (half and complex types, hooks on saved values, tensors that somebody
# may have written to) takes the general way.
_HEAD = """def apply(node, g, edges=None):
    dtype = g{array}.dtype
    if dtype is not f32 and dtype is not f64 and (type(g{array}) not in HALVES or dtype not in HALF):
        return general(node, g, edges)
"""
_SAVED = """    saved = node.saved
    if saved is FREED:
        raise freed_error(node)
    versions = node.versions
    if versions is PACKED:
        {packed}
"""
_RAW_SAVED = _SAVED.format(packed="saved, versions = unpack_arrays(node), None")
_TENSOR_SAVED = _SAVED.format(packed="return general(node, g, edges)")
_GUARD = """    guard = node.out_guard
    if guard is not None and (type(guard) is not VersionCounter or guard.n or guard.watched):
        check_versions(node)
"""
_INPUT = """    v{p} = saved[{p}]
    if type(v{p}) is Tensor or isinstance(v{p}, Tensor):
        counter = v{p}._vc
        if counter is not None:
            seen = 0 if versions is None else versions[{p}]
            if counter.n != seen if not counter.watched else unlike(counter, seen):
                return general(node, g, edges)
"""
_RAW_INPUT = _INPUT + "        v{p} = v{p}._array\n"
_TENSOR_INPUT = (
    _INPUT
    + """        if v{p}._rg and node.edges[{p}] is None:
            return general(node, g, edges)
    elif v{p} is not None:
        v{p} = v{p}.item() if isinstance(v{p}, ndarray) else v{p}
"""
)
_EDGES = "    if edges is None:\n        edges = node.edges\n"
# NOTE [At once]: where a launch costs more than the work in it, one kernel gives the gradients of all inputs.
_AT_ONCE = """    if HALVES and type(g) in HALVES:
        together = at_once(g, {inputs}, edges)
        if together is not NotImplemented:
            return together
"""
_TAIL = """    fix = node.fix
    if fix is None:
        return ({terms},)
    if type(fix) is Mixed:
        return general(node, g, edges)
    return [r if r is None or f is None else fixed(r, f, e) for r, f, e in zip(({terms},), fix, edges)]
"""
# A joint rule gives all gradients. `before`: what has arrived for the first input so far (see NOTE [Onto]).
_JOINT_HEAD = """def apply(node, g, edges=None, before=None):
    first = g[0] if type(g) is tuple else g
    if first is None:
        return general(node, g, edges, before)
    dtype = first.dtype
    if dtype is not f32 and dtype is not f64 and (type(first) not in HALVES or dtype not in HALF):
        return general(node, g, edges, before)
"""
_JOINT_GUARD = """    guard = node.out_guard
    if guard is not None:
        if type(guard) is VersionCounter:
            if guard.n or guard.watched:
                check_versions(node)
        else:
            for counter, written, _, _ in guard:
                if counter.n != written or counter.watched:
                    check_versions(node)
"""
_JOINT_TAIL = """    {edges}, = edges
    found = rule(g, {arguments})
    fix = node.fix
    if fix is None:
        return found
    return [r if r is None or f is None else fixed(r, f, e) for r, f, e in zip(found, fix, edges)]
"""
_TENSOR_OUTPUT = "    v{p} = saved[{p}]\n    if v{p} is not None:\n        v{p} = as_output(node, {nr}, v{p})\n"


# NOTE [Onto]: where a launch costs more than the work in it, a kernel adds its result to the gradient that has arrived for the same
# place by another way: a rule that names `before` can. The engine asks for it (`onto`); what is unusual is added afterwards.


def _generally(node: Any, g: Any, edges: Any, before: Any) -> Any:
    """The general way of a joint rule."""
    found = OpNode.apply_raw(node, g, edges)
    if before is None:
        return found
    first, *others = found
    return before if first is None else registry.raw.add(before, first), *others


def spell_out_joint(op: Op) -> Callable[..., Any]:
    """`apply_raw` of an operation whose gradients are given by one rule, written out."""
    rule, inputs = op.joint, len(op.inputs)
    assert rule is not None
    positions = [rule.at[name] for name in rule.names if name in op.layout]
    given = []
    for name in rule.names:
        p = rule.at[name]
        if name == "needs":
            given.append(f"({''.join(f'e{i} is not None, ' for i in range(inputs))})")
        elif name in ("ops", "before"):
            given.append(name)
        elif p < inputs:
            given.append(f"v{p}")
        else:
            given.append(f"saved[{p}]" if p < len(op.layout) else f"saved[{p}] if len(saved) > {p} else None")
    text = _JOINT_HEAD + _RAW_SAVED + _JOINT_GUARD
    text = text.replace("general(node, g, edges)", "general(node, g, edges, before)")
    for p in sorted({p for p in positions if p < inputs}):
        text += _RAW_INPUT.format(p=p).replace("general(node, g, edges)", "general(node, g, edges, before)")
    text += _EDGES + _JOINT_TAIL.format(edges=", ".join(f"e{i}" for i in range(inputs)), arguments=", ".join(given))
    filename = f"<gradient of {op.name}, raw>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = _scope(True) | {"general": _generally, "rule": rule.fn}
    exec(compile(text, filename, "exec"), scope)
    return scope["apply"]  # type: ignore[no-any-return]


def _unlike(counter: VersionCounter, seen: Any) -> bool:
    """Is a tensor that somebody may write to unseen (a parameter that was brought to a device) not surely as it was?"""
    return type(seen) is not tuple or counter.exported or counter.n != seen[0] or counter.silent != seen[1]


def _scope(raw: bool) -> dict[str, Any]:
    """What the texts use."""
    return {
        "HALF": HALF, "HALVES": HALVES, "Mixed": Mixed, "f32": f32, "f64": f64, "FREED": FREED, "PACKED": PACKED, "freed_error": freed_error,
        "ndarray": ndarray, "Tensor": Tensor, "VersionCounter": VersionCounter, "check_versions": check_versions, "unlike": _unlike,
        "as_output": as_output, "unpack_arrays": unpack_arrays, "ops": registry.raw if raw else lifted, "fixed": fix_raw if raw else fix_tensor,
    }  # fmt: skip


def spell_out(op: Op, world: str) -> Callable[..., Any]:
    """`apply_raw` or `apply_tensors` of an operation's nodes, written out for its rules: no loop, one call per gradient.

    The text is known to linecache, so a debugger steps through it like through any other function.
    """
    raw, inputs = world == "raw", len(op.inputs)
    outputs = dict(op.out_positions)
    terms: list[str] = []
    named: set[int] = set()
    used: set[int] = set()
    for i, rule in enumerate(op.rules):
        if rule is None:
            terms.append("None")
            continue
        positions = [None if name == "ops" else rule.at[name] for name in rule.names]
        unpacked = {p for p in positions if p is not None and (p < inputs or (not raw and p in outputs))}
        named.update(p for p in positions if p is not None)
        used |= unpacked
        arguments = ["g"] + ["ops" if p is None else f"v{p}" if p in unpacked else f"saved[{p}]" for p in positions]
        term = "g" if _hands_on(rule) else f"rule{i}({', '.join(arguments)})"
        terms.append(f"None if edges[{i}] is None else {term}")
    text = _HEAD.format(array="" if raw else "._array")
    if named:
        text += (_RAW_SAVED if raw else _TENSOR_SAVED) + (_GUARD if named & set(outputs) else "")
    for p in sorted(used):
        form = (_RAW_INPUT if raw else _TENSOR_INPUT) if p < inputs else _TENSOR_OUTPUT
        text += form.format(p=p, nr=outputs.get(p))
    text += _EDGES
    if raw and op.at_once is not None:
        text += _AT_ONCE.format(inputs=", ".join(f"v{p}" for p in sorted(p for p in used if p < inputs)))
    text += _TAIL.format(terms=", ".join(terms))
    filename = f"<gradient of {op.name}, {world}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {f"rule{i}": rule.fn for i, rule in enumerate(op.rules) if rule is not None}
    scope |= _scope(raw)
    scope["general"] = OpNode.apply_raw if raw else OpNode.apply_tensors
    scope["at_once"] = op.at_once
    for i, rule in enumerate(op.rules):
        if raw and op.elementwise and rule is not None and not _hands_on(rule):
            registry.follow_rule(f"{op.name}_gradient", rule.fn, rule.names, partial(_runs, scope, i, rule))
    exec(compile(text, filename, "exec"), scope)
    return scope["apply"]  # type: ignore[no-any-return]

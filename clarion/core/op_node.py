"""The node of an operation: how its rules run, in both worlds, and how their results are brought to the inputs.

NOTE [Complex]: rules are written for the reals. For a complex result the engine conjugates the saved
values before it calls the rule, which is right for every holomorphic operation; the others (abs,
real, …) say `conj=False` and write their own.

NOTE [Half precision]: float16 and bfloat16 are computed in float32 and rounded once, forward and backward; where kernels of the
host take them as they stand (kernels/halved.py), nothing is cast before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import errors
from ..kernels import registry
from ..kernels.coo import Coo
from ..kernels.halved import KERNELS, LEAST, Rules, in_half
from . import modes
from .devices import HALVES, TAKES_ANY, as_array, kind_of, ndarray, xp_of
from .dtypes import HALF, NUMBERS, WIDER, b1, f32, f64
from .namespace import lifted
from .node import FREED, Mixed, Node
from .passes import running
from .saved import PACKED, check_versions, freed_error, unpack_all, unpack_arrays
from .tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from .op import Op


class OpNode(Node):
    """A recorded operation: runs the rules of its `op`."""

    __slots__ = ()

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        saved = self.saved
        if saved is FREED:
            raise freed_error(self)
        check_versions(self)
        op = self.op
        if self.versions is PACKED:
            saved = unpack_arrays(self)
        else:
            saved = tuple([v._array if isinstance(v, Tensor) else v for v in saved])
        dtype = g.dtype if type(g) is not tuple else next(x.dtype for x in g if x is not None)
        if dtype is not f32 and dtype is not f64:
            if dtype in HALF and op.joint is None and type(g) is ndarray and g.size >= LEAST:
                found = _run_in_half(op, g, saved, edges or self.edges)
                if found is not None:
                    return found if self.fix is None else _fixed(found, self.fix, self.edges)
            g, saved = _prepare_raw(op, dtype, g, saved)
        if type(self.fix) is Mixed:
            saved = tuple([cast(v, g.dtype) if _is_whole(v) else v for v in saved])
        if op.joint is not None:
            grads = _run_joint(self, op, g, saved, registry.raw, edges or self.edges)
        else:
            grads = _run_rules(op, g, saved, registry.raw, edges or self.edges)
        return grads if self.fix is None else _fixed(grads, self.fix, self.edges)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        op = self.op
        values: Any = unpack_all(self)
        first = g if type(g) is not tuple else next(x for x in g if x is not None)
        if op.conj and first.is_complex():
            values = [v.conj() if isinstance(v, Tensor) and v.is_complex() else v for v in values]
            values = [v.conjugate() if type(v) is complex else v for v in values]
        if type(self.fix) is Mixed:
            values = [v.to(g.dtype) if isinstance(v, Tensor) and _is_whole(v._array) else v for v in values]
        if op.joint is not None:
            grads = _run_joint(self, op, g, tuple(values), lifted, edges or self.edges)
        else:
            grads = _run_rules(op, g, values, lifted, edges or self.edges)
        if self.fix is not None:
            grads = [r if r is None or f is None else fix_tensor(r, f) for r, f in zip(grads, self.fix, strict=True)]
        if "fused" in op.traits and modes.state.grad:
            grads = [r if r is None or r._rg else tied(self, r) for r in grads]
        return grads


class Tied(Node):
    """The history of a gradient that does not depend on anything: it was computed along with those that do.

    PyTorch's gradient of a convolution's bias, of pooling, … requires a gradient, too, under create_graph: a
    Hessian-vector product meets it and goes on. What it is differentiated by gets zeros, or nothing (of several).
    """

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (xp_of(g).zeros_like(g),) if len(self.edges) == 1 else (None,) * len(self.edges)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        return tuple([r if r is None else new_tensor(r) for r in self.apply_raw(g._array)])


def tied(node: Node, g: Tensor) -> Tensor:
    """A gradient of `node`, joined to all that the node was computed from."""
    link = Tied()
    link.blank()
    inputs = [i for i, edge in enumerate(node.edges) if edge is not None]
    link.edges = tuple([node.edges[i] for i in inputs])
    link.nrs = None if node.nrs is None else tuple([node.nrs[i] for i in inputs])
    result = new_tensor(g._array)
    result._edge, result._rg = link, True
    if modes.special and modes.dual is not None:
        modes.dual.carry(g, result)
    return result


def _is_whole(value: Any) -> bool:
    """Is it an array of whole numbers or truth values?"""
    return getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u", "b")


def _run_rules(op: Op, g: Any, values: Any, namespace: Any, edges: tuple[Any, ...]) -> list[Any]:
    """One rule per input that wants a gradient."""
    return [
        None if edge is None or rule is None else rule(g, values, namespace)
        for edge, rule in zip(edges, op.rules, strict=True)
    ]


def _fixed(grads: Any, fix: Any, edges: tuple[Any, ...]) -> list[Any]:
    return [r if r is None or f is None else fix_raw(r, f, e) for r, f, e in zip(grads, fix, edges, strict=True)]


def _run_in_half(op: Op, g: Any, values: Any, edges: tuple[Any, ...]) -> list[Any] | None:
    """The rules on half precision as it stands: those of elements as one pass, those that call one kernel by that of half precision."""
    grads: list[Any] = []
    for edge, rule in zip(edges, op.rules, strict=True):
        if edge is None or rule is None:
            grads.append(None)
            continue
        if rule.half is None:
            rule.half = _in_half(op, rule)
        if rule.half is not NotImplemented:
            given = [in_half if name == "ops" else values[rule.at[name]] for name in rule.names]
            if not any(type(v) is ndarray and v.dtype not in _SINGLES and v.dtype is not b1 for v in given):
                found = rule.half(g, *given)
                if found is not NotImplemented:
                    grads.append(found)
                    continue
        return None
    return grads


def _in_half(op: Op, rule: Any) -> Any:
    """How a rule runs on half precision as it stands; NotImplemented where nothing is known."""
    if op.elementwise:
        return NotImplemented if Rules.make is None else Rules.make(f"{op.name}_gradient", rule.fn, rule.names)
    alone = "ops" in rule.names and ("product" in op.traits and "accumulates" not in op.traits)
    return rule.fn if KERNELS and (alone or op.name in ("softmax", "log_softmax")) else NotImplemented


def _run_joint(node: Node, op: Op, g: Any, values: tuple[Any, ...], namespace: Any, edges: tuple[Any, ...]) -> Any:
    """A rule that gives the gradients of all inputs at once."""
    if op.variadic:
        return _run_variadic(node, op, g, values, namespace, edges)
    assert op.joint is not None
    missing = len(op.layout) + len(op.inputs) - len(values)
    values = (*values, *(None,) * missing, tuple([e is not None for e in edges]), None)
    return op.joint(g, values, namespace)


def _run_variadic(node: Node, op: Op, g: Any, values: tuple[Any, ...], namespace: Any, edges: tuple[Any, ...]) -> Any:
    """A variadic operation's joint rule gets its inputs as one list under their name."""
    n = len(node.edges)
    if op.joint is None:
        raise errors.EngineError(f"{op.name} has no gradient rule")
    count = len(op.params) + len(op.outputs)
    rest: tuple[Any, ...] = values[n : n + count] if values else (None,) * count
    known = {f"{op.inputs[0]}_shape": values[n + count :]}
    known |= {op.inputs[0]: values[:n], "ops": namespace, "needs": tuple(e is not None for e in edges)}
    known |= dict(zip(op.params + op.outputs, rest, strict=True))
    return op.joint.fn(g, *[known[name] for name in op.joint.names])


def _first(g: Any) -> Any:
    """A gradient, or the first that is there of several."""
    return g if type(g) is not tuple else next(x for x in g if x is not None)


def _prepare_raw(op: Op, dtype: Any, g: Any, saved: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Complex: conjugate what was saved. Half: widen to float32 (see the notes above)."""
    wide = WIDER.get(dtype)
    if wide is not None and not op.moves and not kind_of(_first(g)).half:
        saved = tuple([cast(v, WIDER[v.dtype]) if getattr(v, "dtype", f32) in WIDER else v for v in saved])
        g = tuple([None if x is None else cast(x, wide) for x in g]) if type(g) is tuple else cast(g, wide)
        dtype = wide
    if dtype.kind == "c" and op.conj:
        saved = tuple([v.conj() if getattr(v, "dtype", f32).kind == "c" else v for v in saved])
        saved = tuple([v.conjugate() if type(v) is complex else v for v in saved])
    return g, saved


def fix_raw(g: Any, meta: tuple[tuple[int, ...], Any], target: Any = None) -> Any:
    """Undo broadcasting and promotion: bring a gradient to its input's shape and type."""
    shape, dtype = meta
    if g.shape != shape:
        g = unbroadcast(g, shape)
    return g if g.dtype is dtype or g.dtype == dtype or goes_on(g, target) else cast(g, dtype)


def goes_on(g: Any, target: Any) -> bool:
    """May a gradient go on to a node in a type that is not its output's?

    Some kernels of a GPU read gradients of any floating type, and round them as a cast would: that is a launch less. Where
    somebody sees the gradient on its way (hooks, captures), it has the type that it should have.
    """
    if type(g) not in HALVES or g.dtype not in _SINGLES:
        return False
    op = getattr(type(target), "op", None)
    takes = None if op is None else TAKES_ANY.get(op.name)
    this = running.this
    return takes is not None and target.hooks is None and this is not None and this.capture is None and takes(target)


_SINGLES = (f32, *HALF)


LONG = 4096  # elements whose sum is worth asking for who adds up fastest


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array over the dimensions along which `shape` was broadcast to it."""
    if g.dtype in HALF and type(g) is ndarray:
        return cast(unbroadcast(cast(g, f32), shape), g.dtype)
    extra = g.ndim - len(shape)
    if extra < 0:
        return xp_of(g).broadcast_to(g, shape)
    if extra and g.shape[extra:] == shape:  # only leading dimensions: a bias, a number
        if type(g) in HALVES:
            return registry.raw.sum(g, tuple(range(extra)), False)
        return xp_of(g).add.reduce(g, 0 if extra == 1 else tuple(range(extra)))
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
    if axes:
        g = registry.raw.sum(g, axes, True) if g.size >= LONG else g.sum(axis=axes, keepdims=True)
    if extra:
        g = g.reshape(g.shape[extra:])
    return g if g.shape == shape else xp_of(g).broadcast_to(g, shape)


def fix_tensor(g: Any, meta: tuple[tuple[int, ...], Any], target: Any = None) -> Any:
    """`fix_raw` for Tensors, recorded."""
    shape, dtype = meta
    have = g._array.shape
    if have != shape:
        extra = len(have) - len(shape)
        if extra < 0:
            g = lifted.expand(g, shape)
        else:
            axes = tuple(range(extra)) + tuple(
                i + extra for i, n in enumerate(shape) if n == 1 and have[i + extra] != 1
            )
            if axes:
                g = lifted.sum(g, axes, True)
            if extra:
                g = lifted.view(g, g._array.shape[extra:])
            if g._array.shape != shape:
                g = lifted.expand(g, shape)
    return g if g._array.dtype == dtype else lifted.cast(g, dtype)


def cast(value: Any, kind: Any) -> Any:
    """An array (or Python number) as an array of another type; complex to real takes the real part."""
    if isinstance(value, NUMBERS):
        return as_array(value).astype(kind)
    if value.dtype == kind:
        return value
    if type(value) is Coo:
        return Coo(value.indices, registry.raw.cast(value.values, kind), value.shape, value.sorted)
    return registry.raw.cast(value, kind)

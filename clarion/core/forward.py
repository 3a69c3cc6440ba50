"""Forward-mode differentiation: tangents travel beside the values, one level of them.

A tensor's tangent lies in its `__dict__`; the level that `modes.dual` holds knows whom it gave one, and takes all of
them back when it is left. Nothing here is looked at unless `modes.special` says that something is unusual.

NOTE [Tangents of an operation]: in this order
1. a view: the same view of the input's tangent, so that both share memory as their values do;
2. the operation's own rule (`op.jvp`, see op.py);
3. elementwise: its Jacobian is diagonal, so that the gradient rules, given tangents, are the forward rules, too;
4. otherwise: a gradient rule is linear in `g`. Run on a `g` that requires a gradient, its derivative with respect to `g` in
   the direction of the tangents is the Jacobian-vector product.
No operation needs a rule of its own; (2) is for speed.

NOTE [Writes]: an operation in place computes the new tangent first, from a copy of what it overwrites, and then writes it
into the old one, so that the tangents of other views follow. A view that had none gives its base one.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from .. import errors
from ..kernels.layout import address, blank, extended, may_overlap, memory_root, strided
from ..kernels.mirrors import mirror_of
from . import modes
from .backward import gradients
from .devices import HOST, writable, xp_of
from .dtypes import INEXACT, NumpyNumber
from .following import replay
from .inplace import inplace
from .namespace import OPS, lifted
from .node import Node
from .op import Op
from .op_node import _run_joint as run_joint
from .op_node import _run_rules as run_rules
from .op_node import fix_tensor
from .tensor import Tensor, new_tensor
from .versions import INFERENCE


class Level:
    """The level that is open, and the tensors (and nodes, for outputs they saved) that have a tangent in it."""

    def __init__(self) -> None:
        self.holders: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()

    # Tangents of tensors -------------------------------------------------------------------------

    def active(self) -> bool:
        """Are tangents computed in this thread now?"""
        state = modes.state
        return state.forward and not state.inference

    def touches(self, values: Iterable[Any]) -> bool:
        """Does any of these have a tangent now?"""
        return self.active() and any(isinstance(t, Tensor) and self.tangent_of(t) is not None for t in values)

    def tangent_of(self, x: Tensor) -> Tensor | None:
        """The tangent of `x`. A view that has none looks whether its base was given one since."""
        found: Tensor | None = x.__dict__.get("_tangent")
        if found is not None or x._view is None:
            return found
        base, chain = x.__dict__.get("_dual_view") or (x._view.base, x._view.chain)
        below = None if x.__dict__.get("_dual_root") else self.tangent_of(base)
        if below is None:
            return None
        found = replay(chain, below)
        self.give(x, found)
        return found

    def give(self, x: Any, tangent: Tensor) -> None:
        """Make `tangent` the tangent of `x`, as it is."""
        x.__dict__["_tangent"] = tangent
        self.holders[id(x)] = x

    def attach(self, x: Tensor, tangent: Tensor) -> None:
        """Make `tangent` the tangent of `x`; copied where it lies in memory in another way than `x`."""
        if tangent._array.shape != x._array.shape:
            raise errors.ShapeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
                f"supported. Tensor is of size {list(x._array.shape)} while the given forward gradient is of size "
                f"{list(tangent._array.shape)}."
            )
        self.give(x, _laid_like(x, tangent))

    def carry(self, source: Tensor, target: Tensor) -> None:
        """`target` stands for `source`: let it have the same tangent."""
        if self.active():
            tangent = self.tangent_of(source)
            if tangent is not None:
                self.give(target, tangent)

    def kept(self, x: Tensor) -> Any:
        """What to keep with a saved value, for `put_back`."""
        tangent = self.tangent_of(x) if self.active() else None
        return None if tangent is None else (weakref.ref(self), tangent)

    def put_back(self, x: Tensor, kept: Any) -> None:
        """`x` stands for a saved value: give it the tangent kept with it, if that is of this level."""
        if kept[0]() is self and self.active():
            self.give(x, kept[1])

    def close(self) -> None:
        """Take all tangents back."""
        for holder in list(self.holders.values()):
            for name in ("_tangent", "_tangents", "_dual_root", "_dual_view"):
                holder.__dict__.pop(name, None)
        self.holders.clear()

    # What calls report ---------------------------------------------------------------------------

    def derive(self, op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...]) -> None:
        """An operation has run: give its outputs their tangents."""
        if not op.differentiable or not self.active():
            return
        tangents = [self.tangent_of(t) if isinstance(t, Tensor) else None for t in inputs]
        wanted = differentiable_outputs(op, outs)
        if not wanted or all(t is None for t in tangents):
            return
        modes.state.forward = False
        try:
            results = tangents_of(op, inputs, params, outs, tangents)
        except NotImplementedError as error:
            raise errors.NotSupportedError(
                f"Trying to use forward AD with {op.name} that does not support it because it has not been implemented yet."
                f"\n{error}"
            ) from None
        finally:
            modes.state.forward = True
        for nr, (out, tangent) in enumerate(zip(outs, results, strict=True)):
            if nr in wanted:
                self.attach(out, _owned(out, tangent, tangents))
        self.remember(outs[wanted[0]]._edge, outs)  # the first output may be one without a gradient

    def viewed(self, x: Tensor, outs: tuple[Tensor, ...], chain: tuple[Any, ...]) -> None:
        """Views were taken of `x`: they get the same views of its tangent."""
        if not self.active() or not all(op.differentiable for op, _, _ in chain):
            return
        for out in outs:
            self._found_in(x, out, chain)
        tangent = self.tangent_of(x)
        if tangent is None or outs[0]._array.dtype not in INEXACT:
            return
        if len(outs) == 1 and chain and chain[-1][2] is None:
            results = (_replay_whole(chain, tangent),)
        else:
            op, params, _ = chain[0]
            results = op.call(tangent, *params)
        for out, result in zip(outs, results, strict=True):
            self.give(out, result)

    def _found_in(self, x: Tensor, out: Tensor, chain: tuple[Any, ...]) -> None:
        """Tangents of views are looked up in the dual (or primal) that they were taken of, not in what lies below it."""
        if x.__dict__.get("_dual_root"):
            out.__dict__["_dual_view"] = (x, extended((), chain))
            self.holders[id(out)] = out
        elif "_dual_view" in x.__dict__:
            base, above = x.__dict__["_dual_view"]
            out.__dict__["_dual_view"] = (base, extended(above, chain))
            self.holders[id(out)] = out

    def remember(self, node: Node | None, outs: tuple[Tensor, ...]) -> None:
        """A node keeps its outputs as arrays: with them, it keeps their tangents."""
        if node is not None and (node.out_guard is not None or not hasattr(type(node), "op")):
            known = {
                nr: t.__dict__["_tangent"] for nr, t in enumerate(outs) if "_tangent" in getattr(t, "__dict__", ())
            }
            node.__dict__["_tangents"] = known
            self.holders[id(node)] = node

    def recall(self, node: Node, nr: int, out: Tensor) -> None:
        """`out` stands for a saved output of `node`."""
        tangent = node.__dict__.get("_tangents", {}).get(nr)
        if tangent is not None and self.active():
            self.give(out, tangent)

    # Writes --------------------------------------------------------------------------------------

    def write(self, op: Op, x: Tensor, args: tuple[Any, ...]) -> Tensor:
        """Run an operation in place where its operands have tangents."""
        old, tangent = lifted.clone(x), None
        if "gen" not in op.params:  # random numbers do not depend on what they overwrite
            tangent = self.tangent_of(op.call(old, *[old if a is x else a for a in args]))
        modes.state.forward = False
        try:
            inplace(op, x, *args)
        finally:
            modes.state.forward = True
        self.overwrite(x, tangent)
        node = x._edge
        if x._view is not None and x._view.base._edge is not None:
            node = getattr(x._view.base._edge, "inner", node)
        self.remember(node, (x,))
        if node is not None and type(node.saved) is tuple and node.saved:
            saved = node.saved[0]  # a copy of what was overwritten, if the rules need it
            if isinstance(saved, Tensor) and saved is not x:
                self.carry(old, saved)
        return x

    def overwrite(self, x: Tensor, tangent: Tensor | None) -> None:
        """`x` was written in place, and so is its tangent (None: it is zero now)."""
        have = self.tangent_of(x)
        if have is not None:
            if have is tangent:
                return
            new = new_tensor(xp_of(have._array).zeros((), have._array.dtype)) if tangent is None else tangent
            inplace(OPS["copy"], have, new)
        elif tangent is not None and x._view is None:
            self.attach(x, tangent)
        elif tangent is not None:
            self._through_base(x, tangent)

    def _through_base(self, x: Tensor, tangent: Tensor) -> None:
        assert x._view is not None
        base = x.__dict__["_dual_view"][0] if "_dual_view" in x.__dict__ else x._view.base
        if x.__dict__.get("_dual_root") or self.tangent_of(base) is not None:
            self.attach(x, tangent)
            return
        array = base._array
        self.give(base, new_tensor(blank((array.shape, array.strides, tangent._array.dtype), xp_of(array))))
        part = self.tangent_of(x)  # the same view of the base's
        if part is None:
            self.attach(x, tangent)
        else:
            inplace(OPS["copy"], part, tangent)

    def reshape(self, op: Op, x: Tensor, params: tuple[Any, ...]) -> None:
        """`x` was made a view of itself in place."""
        tangent = x.__dict__.get("_tangent")
        if tangent is not None and self.active():
            self.give(x, op.call(tangent, *params))


# The tangents of an operation ------------------------------------------------------------------------


def differentiable_outputs(op: Op, outs: tuple[Tensor, ...]) -> list[int]:
    """The numbers of the outputs that have tangents."""
    many = len(op.outputs) == 1 and len(outs) > 1
    return [nr for nr, out in enumerate(outs) if (many or nr in op.grad_outputs) and out._array.dtype in INEXACT]


def tangents_of(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], tangents: list[Tensor | None]
) -> Any:
    """The tangents of the outputs, None where they are zero. See NOTE [Tangents of an operation]."""
    if op.forward is not None:
        result = op.forward(op, inputs, params, outs, tangents)
        return result if type(result) is tuple else (result,)
    if op.elementwise and op.joint is None and len(outs) == 1 and _diagonal(op, inputs, outs[0]):
        return (_elementwise(op, inputs, params, outs, tangents),)
    return _transposed(op, inputs, params, outs, tangents)


def _diagonal(op: Op, inputs: tuple[Any, ...], out: Tensor) -> bool:
    """Are the rules, which multiply with a diagonal Jacobian, right for tangents, too?

    Rules on complex numbers that are not holomorphic work for gradients only.
    """
    if op.conj and out._array.dtype.kind == "c":
        return True
    return not any(isinstance(t, Tensor) and t._array.dtype.kind == "c" for t in (*inputs, out))


def _elementwise(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], tangents: list[Tensor | None]
) -> Tensor | None:
    values, out = _values(op, inputs, params, outs), outs[0]._array
    total = None
    for rule, tangent in zip(op.rules, tangents, strict=True):
        if rule is None or tangent is None:
            continue
        part = rule(_fitted(tangent, out), values, lifted)
        total = part if total is None or part is None else total + part
    return total


def _transposed(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], tangents: list[Tensor | None]
) -> Any:
    """The gradient rules, differentiated with respect to the gradient."""
    everything = (*inputs, *tangents, *outs)
    recorded = modes.recording() and any(isinstance(t, Tensor) and t._rg for t in everything)
    if not recorded:  # nobody differentiates the result: leave the graph out of it
        inputs, outs = tuple(_bare(t) for t in inputs), tuple(_bare(t) for t in outs)
    wanted = differentiable_outputs(op, outs)
    seeds: list[Tensor | None] = [_seed(out) if nr in wanted else None for nr, out in enumerate(outs)]
    whole = len(outs) > 1 and not (len(op.outputs) > 1 and len(op.grad_outputs) == 1)
    g: Any = tuple(seeds) if whole else seeds[op.grad_outputs[0] if len(outs) > 1 else 0]
    found: list[Tensor | None] = [None] * len(outs)
    before = modes.set_grad(True)
    try:
        rows = _pull(op, inputs, params, outs, tangents, g)
        pairs = [(r, _fitted(t, r._array)) for r, t in zip(rows, tangents, strict=True) if _joined(r, t)]
        if pairs:
            ends = tuple(r for r, _ in pairs)
            results = gradients(
                ends, [seeds[nr] for nr in wanted], tuple(t for _, t in pairs), create_graph=recorded, allow_unused=True
            )
            for nr, result in zip(wanted, results, strict=True):
                found[nr] = result
    finally:
        modes.set_grad(before)
    return found


def _pull(op: Op, inputs: tuple[Any, ...], params: Any, outs: Any, tangents: Any, g: Any) -> Any:
    """The gradient rules for the inputs that have tangents, on Tensors."""
    values = _values(op, inputs, params, outs)
    first = g if type(g) is not tuple else next(x for x in g if x is not None)
    if op.conj and first.is_complex():
        values = [v.conj() if isinstance(v, Tensor) and v.is_complex() else v for v in values]
        values = [v.conjugate() if type(v) is complex else v for v in values]
    edges = tuple(tangents)
    if op.joint is not None:
        stand_in = Node()
        stand_in.edges = edges
        grads = run_joint(stand_in, op, g, tuple(values), lifted, edges)
    else:
        grads = run_rules(op, g, values, lifted, edges)
    return [
        None if r is None or t is None else fix_tensor(r, (x._array.shape, x._array.dtype))
        for r, t, x in zip(grads, tangents, inputs, strict=True)
    ]


def _values(op: Op, inputs: tuple[Any, ...], params: Any, outs: Any) -> list[Any]:
    """All values that rules may name, in the layout of recording.py."""
    values = [t.item() if isinstance(t, NumpyNumber) else t for t in inputs]
    values += [*params, *outs[: len(op.outputs)]]
    if op.uses_shapes or not op.variadic:
        values += [None if t is None else (t._array.shape if isinstance(t, Tensor) else ()) for t in inputs]
    return values


def _replay_whole(chain: tuple[Any, ...], tangent: Tensor) -> Tensor:
    """The view of a tangent; a copy where it looks at memory around the value that the tangent does not have."""
    try:
        return replay(extended((), chain), tangent)
    except ValueError:
        ((op, params, _),) = chain
        if op.name != "as_strided":
            raise
        return lifted.as_strided_copy(tangent, *params)  # type: ignore[no-any-return]


def _bare(value: Any) -> Any:
    return new_tensor(value._array) if isinstance(value, Tensor) else value


def _seed(out: Tensor) -> Tensor:
    seed = new_tensor(xp_of(out._array).zeros(out._array.shape, out._array.dtype))
    seed._rg = True
    return seed


def _joined(row: Any, tangent: Any) -> bool:
    return row is not None and tangent is not None and row.requires_grad


def _fitted(tangent: Any, array: Any) -> Any:
    """A tangent brought to the shape and the type of `array`."""
    if tangent._array.shape != array.shape:
        tangent = lifted.expand(tangent, array.shape)
    return tangent if tangent._array.dtype == array.dtype else lifted.cast(tangent, array.dtype)


def _owned(out: Tensor, tangent: Tensor | None, tangents: list[Tensor | None]) -> Tensor:
    """The tangent of an output: in its shape and type, and in memory of its own, for it may be written in place."""
    if tangent is None:
        return new_tensor(xp_of(out._array).zeros(out._array.shape, out._array.dtype))
    if not isinstance(tangent, Tensor):
        tangent = new_tensor(xp_of(out._array).asarray(tangent, out._array.dtype))
    fitted: Tensor = _fitted(tangent, out._array)
    array = fitted._array
    if any(t is not None and xp_of(array).may_share_memory(array, t._array) for t in tangents) or not writable(array):
        fitted = lifted.clone(fitted)
    return fitted


def _laid_like(x: Tensor, tangent: Tensor) -> Tensor:
    """The tangent in memory like that of `x`: every view of the one can be taken of the other."""
    mine, want = tangent._array, x._array
    if xp_of(mine) is not HOST.xp or xp_of(want) is not HOST.xp or not want.size or may_overlap(want):
        return tangent if tangent._vc is not INFERENCE else lifted.clone(tangent)
    extent, place, strides = memory = _memory(want)
    if memory == _memory(mine) and (mirror_of(want) is None) is (mirror_of(mine) is None):
        return tangent if tangent._vc is not INFERENCE else lifted.clone(tangent)
    if min(strides, default=0) < 0:
        return tangent
    item = mine.itemsize
    array = strided(HOST.xp.zeros(extent, mine.dtype), mine.shape, tuple([s * item for s in strides]), place * item)
    result: Tensor = inplace(OPS["copy"], new_tensor(array), tangent)
    return result


def _memory(array: Any) -> tuple[int, int, tuple[int, ...]]:
    """How many elements fit into the memory behind an array, at which of them it begins, and its strides, in elements."""
    root, item = memory_root(array), array.itemsize
    strides = tuple([s // item for s in array.strides])
    lent = type(root) is not HOST.array
    if lent:  # by another owner: what lies around is not known
        return 1 + sum([(n - 1) * step for n, step in zip(array.shape, strides, strict=True)]), 0, strides
    return root.nbytes // item, (address(array) - address(root)) // item, strides


# Levels ------------------------------------------------------------------------------------------------


def enter() -> Level:
    """Open the level; there is only one."""
    if modes.dual is not None:
        raise errors.EngineError("Nested forward mode AD is not supported at the moment")
    level = modes.dual = Level()
    modes._count(1)
    return level


def leave() -> None:
    """Close the level: all tangents are gone."""
    level, modes.dual = modes.dual, None
    modes._count(-1)
    if level is not None:
        level.close()

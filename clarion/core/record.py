"""Recording: the node of a call, what it saves, and how its rules run.

NOTE [Layout]: saved values stand in one fixed order: inputs, parameters, outputs, shapes of the inputs
(`x_shape`: naming it keeps the shape and not the data); None where the rules that will run do not name
it. Inputs are kept as Tensors (versions are checked, second derivatives need them), outputs as their
arrays only: holding the Tensor would close a cycle. Where nothing but parameters and shapes is named, the
layout is a list instead of a tuple: there is nothing to free.

NOTE [Complex]: rules are written for the reals. For a complex result the engine conjugates the saved
values before it calls the rule, which is right for every holomorphic operation; the others (abs,
real, …) say `conj=False` and write their own.

NOTE [Half precision]: float16 and bfloat16 are computed in float32 and rounded once, forward and backward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..events import hub
from ..kernels import registry
from . import modes, provenance
from .dtypes import HALF, INEXACT, bf16, f16, f32, f64
from .inplace import sync
from .namespace import lifted
from .node import FREED, Node, sequence
from .saved import PACKED, Packed, check_versions, freed_error, pack, unpack_all, version_of
from .tensor import Tensor

if TYPE_CHECKING:
    from .op import Op

ndarray = np.ndarray
asarray = np.asarray


def cast(value: Any, kind: Any) -> Any:
    """An array (or Python number) as an array of another type; complex to real takes the real part."""
    if not isinstance(value, ndarray):
        return asarray(value).astype(kind)
    if value.dtype == kind:
        return value
    if value.dtype.kind == "c" and np.dtype(kind).kind != "c" and kind != np.bool_:
        value = value.real
    return value.astype(kind)


def record(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...]) -> Node | None:
    """Add a call to the graph, if any of its inputs requires a gradient."""
    mask = 0
    for i, t in enumerate(inputs):
        if isinstance(t, Tensor):
            if t._view is not None:
                sync(t)
            if t._rg:
                mask |= 1 << i
    if not mask:
        return None
    node = make_node(op, inputs, params, outs, mask)
    for i, out in enumerate(outs):
        if i in op.grad_outputs or (len(op.outputs) == 1 and len(outs) > 1 and out._array.dtype in INEXACT):
            out._edge = node
            out._rg = True
            out._nr = i
    if len(outs) > 1:
        node.n_out = len(outs)
        node.out_meta = tuple((out._array.shape, out._array.dtype) for out in outs)
    if hub.recorded is not None:
        announce(node, inputs, outs[0])
    return node


def announce(node: Node, inputs: tuple[Any, ...], out: Tensor) -> None:
    """Tell listeners that an operation was recorded, and what it saved."""
    if hub.recorded is not None:
        hub.recorded(node, inputs, out)
    if hub.saved is not None:
        for t in node.saved[: len(node.edges)]:
            if isinstance(t, Tensor):
                hub.saved(node, t)
        if node.out_guard is not None:
            hub.saved(node, out)


def make_node(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], mask: int) -> OpNode:
    """The node of a call: what its rules name is saved, with guards on it."""
    keep = _variadic_keep(op, len(inputs)) if op.variadic else op.keep(mask)
    first_out = len(inputs) + len(params)
    node = op.node_class()
    layout: list[Any] = []
    edges: list[Any] = []
    nrs: list[int] = []
    fix: list[Any] = []
    keeps = versioned = numbered = must_fix = False
    out_array = outs[0]._array
    out_dtype = out_array.dtype
    half = out_dtype is f16 or out_dtype is bf16
    for i, t in enumerate(inputs):
        is_tensor = isinstance(t, Tensor)
        # A rule that meets an operand of another type may leave the gradient in a wider one.
        must_fix |= is_tensor and t._array.dtype is not out_dtype
        if keep[i] and t is not None:
            # A number is kept as Python's own, which leaves the type of a gradient alone.
            layout.append(t.item() if isinstance(t, np.generic) else t)
            keeps = True
            versioned |= is_tensor and t._vc is not None
        else:
            layout.append(None)
        if mask >> i & 1:
            edges.append(t._edge or t)
            nrs.append(t._nr)
            numbered |= t._nr != 0
            a = t._array
            fix.append((a.shape, a.dtype))
            if half or (op.broadcast and a.shape != out_array.shape):
                must_fix = True
        else:
            edges.append(None)
            nrs.append(0)
            fix.append(None)
    layout += params
    guards = []
    for i, out in enumerate(outs[: len(op.outputs)], first_out):  # of many outputs (split) none is ever saved
        if i < len(keep) and keep[i]:
            counter = out._counter()
            guards.append((counter, counter.n, out._array, counter.silent))
            layout.append(out._array)
        else:
            layout.append(None)
    if op.uses_shapes:
        layout += [None if t is None else np.shape(t._array if isinstance(t, Tensor) else t) for t in inputs]
    node.saved = tuple(layout) if keeps or guards else layout
    node.out_guard = guards or None
    node.versions = tuple([version_of(t) for t in layout[: len(inputs)]]) if versioned else None
    node.edges = tuple(edges)
    node.nrs = tuple(nrs) if numbered else None
    node.fix = tuple(fix) if must_fix else None
    node.seq = next(sequence)
    provenance.mark(node)
    node.hooks = None
    return node


def finish(node: Node, outs: tuple[Tensor, ...]) -> None:
    """What modes away from the default add to a fresh node."""
    if modes.state.saved_hooks:
        pack(node, outs)
    if modes.state.anomaly:
        remember_stack(node)


def remember_stack(node: Node) -> None:
    """In anomaly mode a node keeps the whole traceback of its birth."""
    import traceback

    frames = [f for f in traceback.extract_stack() if not provenance.is_inside(f.filename)]
    node.metadata["traceback_"] = traceback.format_list(frames)


def _variadic_keep(op: Op, n: int) -> tuple[bool, ...]:
    named = set(op.joint.names) if op.joint is not None else set()
    return (op.inputs[0] in named,) * n + tuple(name in named for name in op.params + op.outputs)


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
            with modes.set_grad_enabled(False):
                saved = tuple([v.unpack(self) if isinstance(v, Packed) else v for v in saved])
        saved = tuple([v._array if isinstance(v, Tensor) else v for v in saved])
        dtype = g.dtype if type(g) is not tuple else next(x.dtype for x in g if x is not None)
        if dtype is not f32 and dtype is not f64:
            g, saved = _prepare_raw(op, dtype, g, saved)
        if op.joint is not None:
            grads = _run_joint(self, op, g, saved, registry.raw, edges or self.edges)
        else:
            grads = _run_rules(op, g, saved, registry.raw, edges or self.edges)
        if self.fix is not None:
            grads = [r if r is None or f is None else fix_raw(r, f) for r, f in zip(grads, self.fix, strict=True)]
        return grads

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        op = self.op
        values: Any = unpack_all(self)
        first = g if type(g) is not tuple else next(x for x in g if x is not None)
        if op.conj and first.is_complex():
            values = [v.conj() if isinstance(v, Tensor) and v.is_complex() else v for v in values]  # type: ignore[attr-defined]
            values = [v.conjugate() if type(v) is complex else v for v in values]
        if op.joint is not None:
            grads = _run_joint(self, op, g, tuple(values), lifted, edges or self.edges)
        else:
            grads = _run_rules(op, g, values, lifted, edges or self.edges)
        if self.fix is not None:
            grads = [r if r is None or f is None else fix_tensor(r, f) for r, f in zip(grads, self.fix, strict=True)]
        return grads


def _run_rules(op: Op, g: Any, values: Any, namespace: Any, edges: tuple[Any, ...]) -> list[Any]:
    """One rule per input that wants a gradient."""
    return [
        None if edge is None or rule is None else rule(g, values, namespace)
        for edge, rule in zip(edges, op.rules, strict=True)
    ]


def _run_joint(node: Node, op: Op, g: Any, values: tuple[Any, ...], namespace: Any, edges: tuple[Any, ...]) -> Any:
    """A rule that gives the gradients of all inputs at once."""
    if op.variadic:
        return _run_variadic(node, op, g, values, namespace, edges)
    assert op.joint is not None
    missing = len(op.layout) + len(op.inputs) - len(values)
    values = (*values, *(None,) * missing, tuple([e is not None for e in edges]))
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


def _prepare_raw(op: Op, dtype: Any, g: Any, saved: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Complex: conjugate what was saved. Half: widen to float32 (see the notes above)."""
    if dtype.kind == "c":
        if op.conj:
            saved = tuple([v.conj() if isinstance(v, ndarray) and v.dtype.kind == "c" else v for v in saved])
            saved = tuple([v.conjugate() if type(v) is complex else v for v in saved])
    elif dtype in HALF and not op.moves:
        saved = tuple([v.astype(f32) if isinstance(v, ndarray) and v.dtype in HALF else v for v in saved])
        g = tuple([None if x is None else x.astype(f32) for x in g]) if type(g) is tuple else g.astype(f32)
    return g, saved


def fix_raw(g: Any, meta: tuple[tuple[int, ...], Any]) -> Any:
    """Undo broadcasting and promotion: bring a gradient to its input's shape and type."""
    shape, dtype = meta
    if g.shape != shape:
        g = unbroadcast(g, shape)
    return g if g.dtype is dtype or g.dtype == dtype else cast(g, dtype)


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum an array over the dimensions along which `shape` was broadcast to it."""
    extra = g.ndim - len(shape)
    if extra < 0:
        return np.broadcast_to(g, shape)
    if extra and g.shape[extra:] == shape:  # only leading dimensions: a bias, a number
        return np.add.reduce(g, 0 if extra == 1 else tuple(range(extra)))
    axes = tuple(range(extra)) + tuple(i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1)
    if axes:
        g = g.sum(axis=axes, keepdims=True)
    if extra:
        g = g.reshape(g.shape[extra:])
    return g if g.shape == shape else np.broadcast_to(g, shape)


def fix_tensor(g: Any, meta: tuple[tuple[int, ...], Any]) -> Any:
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

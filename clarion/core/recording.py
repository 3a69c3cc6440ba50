"""Recording: the node of a call, what it saves, and what the modes add to it.

NOTE [Filling a node]: `make_node` fills the slots of a node, for any operation and any inputs. The calls that are written
out for an operation fill them by the text that node_text.py writes: the same steps, with whatever is known of the
operation beforehand left out. A test compares both (tests/core/test_nodes.py).

NOTE [Layout]: saved values stand in one fixed order: inputs, parameters, outputs, shapes of the inputs
(`x_shape`: naming it keeps the shape and not the data); None where the rules that will run do not name
it. Inputs are kept as Tensors (versions are checked, second derivatives need them), outputs as their
arrays only: holding the Tensor would close a cycle. Where nothing but parameters and shapes is named, the
layout is a list instead of a tuple: there is nothing to free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..events import hub
from . import modes, provenance
from .dtypes import INEXACT, WIDER, NumpyNumber
from .following import sync
from .node import Mixed, Node, sequence
from .saved import pack, version_of
from .tensor import Tensor
from .versions import INFERENCE

if TYPE_CHECKING:
    from .op import Op


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


def make_node(op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], mask: int) -> Node:
    """The node of a call: what its rules name is saved, with guards on it."""
    keep = _variadic_keep(op, len(inputs)) if op.variadic else op.keep(mask)
    first_out = len(inputs) + len(params)
    node = op.node_class()
    layout: list[Any] = []
    edges: list[Any] = []
    nrs: list[int] = []
    fix: list[Any] = []
    keeps = versioned = numbered = must_fix = mixed = False
    out_array = outs[0]._array
    out_dtype = out_array.dtype
    half = out_dtype in WIDER
    for i, t in enumerate(inputs):
        is_tensor = isinstance(t, Tensor)
        # A rule that meets an operand of another type may leave the gradient in a wider one.
        must_fix |= is_tensor and t._array.dtype is not out_dtype
        if keep[i] and t is not None:
            # A number is kept as Python's own, which leaves the type of a gradient alone.
            layout.append(t.item() if isinstance(t, NumpyNumber) else t)
            keeps = True
            versioned |= is_tensor and t._vc is not None
            mixed |= is_tensor and t._array.dtype.kind in "iub"
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
        layout += [None if t is None else (t._array.shape if isinstance(t, Tensor) else ()) for t in inputs]
    node.saved = tuple(layout) if keeps or guards else layout
    node.out_guard = guards or None
    node.versions = tuple([version_of(t) for t in layout[: len(inputs)]]) if versioned else None
    node.edges = tuple(edges)
    node.nrs = tuple(nrs) if numbered else None
    if mixed and op.mixes and out_dtype in INEXACT:
        node.fix = Mixed(fix)
    else:
        node.fix = tuple(fix) if must_fix else None
    node.seq = next(sequence)
    provenance.mark(node)
    node.hooks = None
    return node


def finished(
    op: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], outs: tuple[Tensor, ...], view: bool = False
) -> None:
    """What modes away from the default add to fresh outputs. A view has its tangents and its counter already."""
    own = modes.state  # (a thread's own: each attribute costs 40 ns)
    if not view and modes.dual is not None and outs:
        modes.dual.derive(op, inputs, params, outs)
    if modes.batches and not view and outs and outs[0]._edge is not None and op.name != "same_for_all":
        _join()(inputs, outs[0], outs[0]._edge)
    if not own.inference:
        for out in outs:
            node = out._edge
            if node is not None:
                if own.anomaly or type(node.saved) is tuple:  # (a list holds no tensors)
                    finish(node, outs)
                break
    elif not view:
        for out in outs:
            out._vc = INFERENCE
    if hub.applied is not None and outs:
        hub.applied(op, inputs, params, outs)


def _join() -> Any:
    from .batching import join

    return join


def finish(node: Node, outs: tuple[Tensor, ...]) -> None:
    """What modes away from the default add to a fresh node."""
    own = modes.state
    hooks = own.saved_hooks
    if hooks and hooks[-1] is not None and node.saved and type(node.saved) is tuple:
        pack(node, outs, hooks[-1])
    if own.anomaly:
        remember_stack(node)


def remember_stack(node: Node) -> None:
    """In anomaly mode a node keeps the whole traceback of its birth."""
    import traceback

    from .engine import current_node

    frames = [f for f in traceback.extract_stack() if not provenance.is_inside(f.filename)]
    node.metadata["traceback_"] = traceback.format_list(frames)
    if (parent := current_node()) is not None:  # recorded while that one ran: a second derivative
        node.metadata["parent_"] = parent


def _variadic_keep(op: Op, n: int) -> tuple[bool, ...]:
    named = set(op.joint.names) if op.joint is not None else set()
    return (op.inputs[0] in named,) * n + tuple(name in named for name in op.params + op.outputs)

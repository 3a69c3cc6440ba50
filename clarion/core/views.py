"""Calling operations whose result shares the memory of their input: views, and how they know their base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..events import hub
from . import modes
from .inplace import sync
from .messages import not_a_tensor
from .node import sequence
from .provenance import mark
from .record import announce, finish, record
from .spelled import own_code
from .tensor import Tensor, new_object
from .versions import INFERENCE, VersionCounter, View

if TYPE_CHECKING:
    from .op import Op


def view_call(op: Op) -> Callable[..., Any]:
    kernel, arity, defaults = op.kernel, op.arity, op.defaults
    rare, cls = op.multi_view or op.keep(1)[0] or not op.differentiable, op.node_class

    def call(x: Any, *params: Any) -> Any:
        if type(x) is not Tensor and not isinstance(x, Tensor):
            raise not_a_tensor(op, 0, x)
        if len(params) + 1 < arity:
            params += defaults[len(defaults) - (arity - 1 - len(params)) :]
        if x._view is not None:
            sync(x)
        if rare:
            return _rare_view(op, x, params)
        a = x._array
        out = as_view(x, kernel(a, *params), ((op, params, None),))
        if x._rg and (modes.special == 0 or modes.recording()):
            node = cls()
            node.saved = [None, *params, None, a.shape]
            node.versions = node.out_guard = node.hooks = None
            node.fix = ((a.shape, a.dtype),) if out._array.dtype is not a.dtype else None
            node.edges = (x._edge or x,)
            node.nrs = (x._nr,) if x._nr else None
            node.seq = next(sequence)
            mark(node)
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                announce(node, (x,), out)
            if modes.special:
                finish(node, (out,))
        if modes.special and hub.applied is not None:
            hub.applied(op, (x,), params, (out,))
        return out

    return own_code(op, call)


def _rare_view(op: Op, x: Tensor, params: tuple[Any, ...]) -> Any:
    """Views whose rule keeps the input, and operations that return several views."""
    result = op.kernel(x._array, *params)
    if op.multi_view:
        outs = tuple([as_view(x, r, ((op, params, i),), "multi") for i, r in enumerate(result)])
    else:
        outs = (as_view(x, result, ((op, params, None),)),)
    if modes.special and modes.dual is not None and op.multi_view and outs:
        modes.dual.viewed(x, outs, ((op, params, 0),))
    if x._rg and op.differentiable and outs and (modes.special == 0 or modes.recording()):
        node = record(op, (x,), params, outs) if op.keep(1)[0] else _node_of_many(op, x, params, outs)
        if node is not None and modes.special:
            finish(node, outs)
    if modes.special and hub.applied is not None:
        hub.applied(op, (x,), params, outs)
    return outs if op.multi_view else outs[0]


def _node_of_many(op: Op, x: Tensor, params: tuple[Any, ...], outs: tuple[Tensor, ...]) -> Any:
    """The node of several views, whose rule names parameters and the shape of the input."""
    shape = x._array.shape
    node = op.node_class()
    node.saved = [None, *params, None, shape]
    node.versions = node.out_guard = node.hooks = node.fix = None
    node.edges = (x._edge or x,)
    node.nrs = (x._nr,) if x._nr else None
    node.seq = next(sequence)
    mark(node)
    for i, out in enumerate(outs):
        out._edge = node
        out._nr = i
        out._rg = True
    if len(outs) > 1:
        node.n_out = len(outs)
        node.out_meta = tuple([(out._array.shape, out._array.dtype) for out in outs])
    if hub.recorded is not None:
        announce(node, (x,), outs[0])
    return node


def as_view(x: Tensor, array: Any, chain: tuple[Any, ...], creation: str = "normal") -> Tensor:
    """A tensor that shares `x`'s memory and version counter, and knows how it was taken from its base."""
    out = new_object(Tensor)
    out._array = array
    out._edge = out._view = None
    out._nr = 0
    out._rg = False
    counter = x._vc
    if counter is None:
        counter = x._vc = VersionCounter()
    out._vc = counter
    if modes.special:
        if modes.dual is not None and chain and chain[0][2] is None:
            modes.dual.viewed(x, (out,), chain)
        if modes.state.inference:
            creation = "inference"
        elif not modes.state.grad:
            creation = "no_grad"
    if counter is INFERENCE:
        return out
    view = out._view = new_object(View)
    view.version = counter.n
    above = x._view
    if above is None:
        view.base = x
        view.chain = chain
    else:
        if above.creation != "normal" and creation == "normal":
            creation = above.creation
        view.base = above.base
        view.chain = above.chain + chain
    view.creation = creation
    return out

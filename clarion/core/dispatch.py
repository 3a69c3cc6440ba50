"""Calling operations: which way an operation goes, and those with one result and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..events import hub
from . import modes
from .dtypes import f32, f64
from .general import general_call
from .hot import binary_call, unary_call
from .inplace import sync
from .messages import not_a_tensor, out_of_memory
from .node import sequence
from .provenance import mark
from .record import announce, finish
from .saved import version_of
from .spelled import own_code, spelled_call
from .tensor import Tensor, new_object, new_tensor
from .versions import INFERENCE, VersionCounter
from .views import view_call

if TYPE_CHECKING:
    from .op import Op

ndarray = np.ndarray


def pick_call(op: Op) -> Callable[..., Any]:
    if op.view:
        return view_call(op)
    if op.variadic:
        return _variadic_call(op)
    hot = op.elementwise or op.pair is not None
    if hot and not op.params and not op.uses_shapes and op.joint is None and len(op.outputs) == 1:
        if len(op.inputs) == 1:
            return unary_call(op)
        if len(op.inputs) == 2:
            return binary_call(op)
    if len(op.inputs) == 1 and op.promote is None and op.joint is None and len(op.outputs) == 1:
        return _single_call(op)
    return spelled_call(op)


def _single_call(op: Op) -> Callable[..., Tensor]:
    """One tensor and parameters, one result: reductions, softmax, …"""
    kernel, cls, arity, defaults = op.kernel, op.node_class, op.arity, op.defaults
    keep = op.keep(1)
    keep_x, keep_out, keeps = keep[0], keep[-1], keep[0] or keep[-1]
    differentiable = op.differentiable
    any_type = op.moves and not op.checks_types  # data is moved as it is, whatever its type

    def call(x: Any, *params: Any) -> Any:
        if type(x) is not Tensor and not isinstance(x, Tensor):
            raise not_a_tensor(op, 0, x)
        a = x._array
        if a.dtype is not f32 and a.dtype is not f64 and not any_type:
            return general_call(op, (x, *params))
        if len(params) + 1 < arity:
            params += defaults[len(defaults) - (arity - 1 - len(params)) :]
        try:
            r = kernel(a, *params)
        except MemoryError as error:
            raise out_of_memory(error) from None
        if type(r) is not ndarray:
            r = r[...]  # NumPy hands out 0-dim results as scalars
        out = new_object(Tensor)
        out._array = r
        out._edge = out._vc = out._view = None
        out._nr = 0
        out._rg = False
        if x._view is not None:
            sync(x)
        if x._rg and (modes.special == 0 or modes.recording()) and differentiable:
            node = cls()
            if keeps:
                node.saved = (x if keep_x else None, *params, r if keep_out else None, a.shape)
            else:
                node.saved = [None, *params, None, a.shape]
            node.versions = (version_of(x),) if keep_x and x._vc is not None else None
            node.out_guard = node.hooks = None
            node.fix = None if r.dtype is a.dtype else ((a.shape, a.dtype),)
            if keep_out:
                out._vc = node.out_guard = VersionCounter()
            node.edges = (x._edge or x,)
            node.nrs = (x._nr,) if x._nr else None
            node.seq = next(sequence)
            mark(node)
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                announce(node, (x,), out)
        elif hub.left is not None and not differentiable and x._rg:
            hub.left(x, op.name)
        if modes.special:
            if modes.dual is not None:
                modes.dual.derive(op, (x,), params, (out,))
            _finish(out)
            if hub.applied is not None:
                hub.applied(op, (x,), params, (out,))
        return out

    return own_code(op, call)


def _variadic_call(op: Op) -> Callable[..., Any]:
    """Any number of tensors of one floating type, one result, nothing saved but parameters and shapes: cat, stack, …"""
    kernel, cls, n_params, defaults = op.kernel, op.node_class, len(op.params), op.defaults
    named = () if op.joint is None else op.joint.names
    keeps = op.inputs[0] in named or any(name in named for name in op.outputs)
    usual = not keeps and op.joint is not None and op.promote is None and len(op.outputs) == 1 and not op.broadcast

    def call(tensors: Any, *params: Any) -> Any:
        if len(params) < n_params:
            params += defaults[len(defaults) - (n_params - len(params)) :]
        arrays: list[Any] = []
        edges: list[Any] = []
        wanted = numbered = False
        dtype = None
        for t in tensors:
            a = t._array if usual and isinstance(t, Tensor) else None
            if a is None or a.dtype is not dtype:
                if a is None or dtype is not None or (a.dtype is not f32 and a.dtype is not f64):
                    return general_call(op, (*tensors, *params), len(tensors))
                dtype = a.dtype
            arrays.append(a)
            if t._view is not None:
                sync(t)
            if t._rg:
                wanted = True
                edges.append(t._edge or t)
                if t._nr:
                    numbered = True
            else:
                edges.append(None)
        r = kernel(arrays, *params)
        out = new_tensor(r)
        if wanted and (modes.special == 0 or modes.recording()):
            node = cls()
            node.saved = [*[None] * len(edges), *params, None, *[a.shape for a in arrays]]
            node.versions = node.out_guard = node.hooks = node.nrs = None
            node.fix = None if r.dtype is dtype else tuple([(a.shape, dtype) for a in arrays])
            node.edges = tuple(edges)
            if numbered:
                node.nrs = tuple([t._nr for t in tensors])
            node.seq = next(sequence)
            mark(node)
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                announce(node, tuple(tensors), out)
        if modes.special:
            if modes.dual is not None:
                modes.dual.derive(op, tuple(tensors), params, (out,))
            _finish(out)
            if hub.applied is not None:
                hub.applied(op, tuple(tensors), params, (out,))
        return out

    return own_code(op, call)


def _finish(out: Tensor) -> None:
    """What modes away from the default add to a fresh output."""
    if modes.state.inference:
        out._vc = INFERENCE
    elif out._edge is not None:
        finish(out._edge, (out,))

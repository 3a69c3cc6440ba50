"""Calling operations: the hot path, for tensors of one floating type. `general.py` takes whatever it hands over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..events import hub
from . import modes, provenance
from .dtypes import f32, f64
from .general import general_call
from .inplace import sync
from .messages import broadcast_error, not_a_tensor
from .node import sequence
from .record import announce, finish
from .saved import version_of
from .spelled import own_code, spelled_call
from .tensor import Tensor, new_object, new_tensor
from .versions import INFERENCE, VersionCounter
from .views import view_call

if TYPE_CHECKING:
    from .op import Op

ndarray = np.ndarray
asarray = np.asarray
OPERANDS = (Tensor, float, int, complex, np.number, np.bool_)

# Local names for what the hot path touches on every call.
_getframe = provenance._getframe
mark = provenance.mark


def pick_call(op: Op) -> Callable[..., Any]:
    if op.view:
        return view_call(op)
    if op.variadic:
        return _variadic_call(op)
    hot = op.elementwise or op.pair is not None
    if hot and not op.params and not op.uses_shapes and op.joint is None and len(op.outputs) == 1:
        if len(op.inputs) == 1:
            return _unary_call(op)
        if len(op.inputs) == 2:
            return _binary_call(op)
    if len(op.inputs) == 1 and op.promote is None and op.joint is None and len(op.outputs) == 1:
        return _single_call(op)
    return spelled_call(op, as_scalar)


# The hot path: one or two tensors of one floating type ----------------------------------------------


def _unary_call(op: Op) -> Callable[[Any], Tensor]:
    kernel, cls, differentiable = op.kernel, op.node_class, op.differentiable
    keep_x, keep_out = op.keep(1)
    keeps = keep_x or keep_out

    user: Any = None  # the user's code that called last: mostly it is the same again

    def call(x: Any) -> Any:
        nonlocal user
        if type(x) is not Tensor and not isinstance(x, Tensor):
            raise not_a_tensor(op, 0, x)
        a = x._array
        if a.dtype is not f32 and a.dtype is not f64:
            return general_call(op, (x,))
        r = kernel(a)
        if type(r) is not ndarray:
            r = r[...]  # NumPy hands out 0-dim results as scalars
        out = new_object(Tensor)
        out._array = r
        out._vc = out._view = None
        out._nr = 0
        if x._view is not None:
            sync(x)
        if x._rg and (modes.special == 0 or modes.recording()) and differentiable:
            node = cls()
            node.saved = (x if keep_x else None, r if keep_out else None) if keeps else ()
            node.versions = (version_of(x),) if keep_x and x._vc is not None else None
            node.out_guard = node.fix = node.hooks = None
            if keep_out:
                out._vc = node.out_guard = VersionCounter()
            node.edges = (x._edge or x,)
            node.nrs = (x._nr,) if x._nr else None
            node.seq = next(sequence)
            frame = _getframe(1)
            code = frame.f_code
            if code is user:
                node.code = code
                node.lasti = frame.f_lasti
            else:
                mark(node)
                user = node.code
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                announce(node, (x,), out)
        else:
            out._edge = None
            out._rg = False
            if hub.left is not None and not differentiable and x._rg:
                hub.left(x, op.name)
        if modes.special:
            if modes.dual is not None:
                modes.dual.derive(op, (x,), (), (out,))
            _finish(out)
            if hub.applied is not None:
                hub.applied(op, (x,), (), (out,))
        return out

    return own_code(call)


def operator_call(op: Op) -> Callable[[Any, Any], Any]:
    """The operation as a Python operator: NotImplemented for what is neither tensor nor number."""

    def other_operand(op: Op, args: tuple[Any, ...]) -> Any:
        return general_call(op, args) if isinstance(args[1], OPERANDS) else NotImplemented

    return _binary_call(op, other_operand)


def _binary_call(op: Op, otherwise: Callable[..., Any] | None = None) -> Callable[[Any, Any], Any]:
    checked, otherwise = otherwise is None, otherwise or general_call  # an operator's first operand is a Tensor
    kernel, cls, differentiable, pair = op.kernel, op.node_class, op.differentiable, op.pair
    # What is kept if both inputs, only the first, or only the second requires a gradient.
    (both_x, both_y, both_out), keeps_both = op.keep(3), any(op.keep(3))
    (x_x, x_y, x_out), keeps_x = op.keep(1), any(op.keep(1))
    (y_x, y_y, y_out), keeps_y = op.keep(2), any(op.keep(2))
    # Rules that do not run may still be spelled out: what they name has a place, where there is nothing to free.
    nothing: Any = [None, None, None] if keeps_both else ()

    user: Any = None  # see above

    def call(x: Any, y: Any) -> Any:
        nonlocal user
        if checked and type(x) is not Tensor and not isinstance(x, Tensor):
            return general_call(op, (x, y))
        a = x._array
        dtype = a.dtype
        kind = type(y)
        if kind is float or kind is int:
            if dtype is not f32 and dtype is not f64:
                return otherwise(op, (x, y))
            b = (_numbers32 if dtype is f32 else _numbers64).get(y)
            if b is None:
                b = as_scalar(y, dtype)
            ry = None
        elif kind is Tensor or isinstance(y, Tensor):
            b = y._array
            if b.dtype is not dtype or (dtype is not f32 and dtype is not f64):
                return general_call(op, (x, y))
            if y._view is not None:
                sync(y)
            ry = y._rg
        else:
            return otherwise(op, (x, y))
        try:
            r = kernel(a, b)
        except ValueError:
            raise broadcast_error(a.shape, b.shape) from None
        if type(r) is not ndarray:
            r = r[...]  # NumPy hands out 0-dim results as scalars
        out = new_object(Tensor)
        out._array = r
        out._vc = out._view = None
        out._nr = 0
        if x._view is not None:
            sync(x)
        rx = x._rg
        if (rx or ry) and (modes.special == 0 or modes.recording()) and differentiable:
            node = cls()
            node.out_guard = node.hooks = node.versions = node.fix = node.nrs = None
            if ry is None:  # a number: kept as the 0-dim array that NumPy is fast with
                keep_out = x_out
                node.saved = (x if x_x else None, b if x_y else None, r if x_out else None) if keeps_x else nothing
                node.edges = (x._edge or x, None)
                if x._nr:
                    node.nrs = (x._nr, 0)
                if x_x and x._vc is not None:
                    node.versions = (version_of(x), 0)
            else:
                if rx and ry:
                    keep_out = both_out
                    saved = (
                        (x if both_x else None, y if both_y else None, r if both_out else None) if keeps_both else ()
                    )
                    node.edges = (x._edge or x, y._edge or y)
                elif rx:
                    keep_out = x_out
                    saved = (x if x_x else None, y if x_y else None, r if x_out else None) if keeps_x else nothing
                    node.edges = (x._edge or x, None)
                else:
                    keep_out = y_out
                    saved = (x if y_x else None, y if y_y else None, r if y_out else None) if keeps_y else nothing
                    node.edges = (None, y._edge or y)
                node.saved = saved
                if saved and (x._vc is not None or y._vc is not None):
                    node.versions = (version_of(saved[0]), version_of(saved[1]))
                if x._nr or y._nr:
                    node.nrs = (x._nr, y._nr)
                if a.shape != b.shape and (pair is None or pair(a, b)):
                    node.fix = ((a.shape, dtype), (b.shape, dtype))
            if keep_out:
                out._vc = node.out_guard = VersionCounter()
            node.seq = next(sequence)
            frame = _getframe(1)
            code = frame.f_code
            if code is user:
                node.code = code
                node.lasti = frame.f_lasti
            else:
                mark(node)
                user = node.code
            out._edge = node
            out._rg = True
            if hub.recorded is not None:
                announce(node, (x, y), out)
        else:
            out._edge = None
            out._rg = False
            if hub.left is not None and not differentiable and (rx or ry):
                hub.left(x if rx else y, op.name)
        if modes.special:
            if modes.dual is not None:
                modes.dual.derive(op, (x, y), (), (out,))
            _finish(out)
            if hub.applied is not None:
                hub.applied(op, (x, y), (), (out,))
        return out

    return own_code(call)


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
        r = kernel(a, *params)
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

    return own_code(call)


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

    return own_code(call)


# Python numbers as 0-dim arrays: NumPy is twice as fast with them. Never a zero: 0.0 and -0.0 are equal keys.
_numbers32: dict[float, Any] = {}
_numbers64: dict[float, Any] = {}


def as_scalar(value: float, dtype: Any) -> Any:
    """A Python number as a 0-dim array, remembered."""
    known = _numbers32 if dtype is f32 else _numbers64
    array = known.get(value)
    if array is not None:
        return array
    array = asarray(value, dtype)
    if value and value == value and len(known) < 1000:
        known[value] = array
    return array


def _finish(out: Tensor) -> None:
    """What modes away from the default add to a fresh output."""
    if modes.state.inference:
        out._vc = INFERENCE
    elif out._edge is not None:
        finish(out._edge, (out,))

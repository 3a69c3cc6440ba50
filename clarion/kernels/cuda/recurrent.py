"""Recurrent layers by cuDNN: one direction of one layer over a whole sequence is one call, its gradients are two.

The rows of all time steps stand below each other (NOTE [Steps] in portable/layers/recurrent.py), which cuDNN calls packed. Here it walks
forwards only: for the other direction every sequence is turned round before, and its outputs after. What the backward pass needs is
cuDNN's own: its notes, in one dimension (by that the kernels know whose they are), and the weights side by side as it wants them.

bfloat16 is left to triton/recurrent.py, where a layer took 0.9 to 1.2 of the time that PyTorch takes for it.
"""

from __future__ import annotations

from ctypes import byref, c_float, c_int, c_size_t, c_uint64, c_void_p
from functools import cache, lru_cache
from typing import Any

import cupy
import numpy as np

from .. import precision
from ..registry import offer, raw
from .arrays import new, over
from .capture import from_host
from .convolutions import _TYPES, _cudnn, _ints, _made, on_stream
from .libraries import LibraryError, check

# cudnnRNNMode_t with the number of gates; cudnnRNNAlgo_t, cudnnMathType_t, cudnnRNNDataLayout_t, cudnnForwardMode_t
_RELU, _TANH, _LSTM, _GRU = (0, 1), (1, 1), (2, 4), (3, 3)
_STEP_BY_STEP, _PERSISTENT, _PERSISTENT_AND_SMALL = 0, 1, 3
_DEFAULT, _TENSOR_CORES, _FLOAT32_EXACTLY = 0, 1, 3
_EQUAL, _PACKED = 0, 1
_TRAINING = 1
_ADD = 0  # gradients of weights are added to what is there

_KNOWN = frozenset(np.dtype(kind) for kind in (np.float32, np.float64, np.float16))
_TO_ITSELF = cupy.cuda.runtime.memcpyDeviceToDevice


@cache
def _is_there() -> bool:
    try:
        return hasattr(_cudnn()[0], "cudnnRNNForward")
    except (OSError, LibraryError):
        return False


def takes(x: Any) -> bool:
    """Are layers over arrays of this type cuDNN's?"""
    return x.dtype in _KNOWN and _is_there()


def _lengths(steps: Any) -> list[int]:
    """Of each sequence, the longest first."""
    order = steps if steps[0][0] == 0 else steps[::-1]
    return [sum(rows > b for _, rows in order) for b in range(order[0][1])]


@lru_cache(maxsize=64)
def _turn(steps: Any) -> Any:
    """Where each row comes from when every sequence is turned round."""
    order = steps if steps[0][0] == 0 else steps[::-1]
    lengths = _lengths(steps)
    rows = [order[lengths[b] - 1 - t][0] + b for t, (_, count) in enumerate(order) for b in range(count)]
    return from_host(np.asarray(rows, np.int64))


def _walked(x: Any, steps: Any) -> Any:
    """Rows in the order of walking, or, of rows in that order, as they were."""
    x = cupy.ascontiguousarray(x)
    return x if steps[0][0] == 0 else raw.embedding(x, _turn(steps), -1, False)


class _Plan:
    """Descriptors, sizes, and where the weights lie, for layers of one kind over sequences of known lengths."""

    def __init__(self, mode: tuple[int, int], kind: Any, sizes: tuple[int, int, int], bias: bool, steps: Any) -> None:
        self.kind, self.sizes, self.bias, self.mode = kind, sizes, bias, mode
        lengths = _lengths(steps)
        self.equal = len(set(lengths)) == 1
        inputs, hidden, projected = sizes
        self.x, self.y = self._rows(lengths, inputs), self._rows(lengths, projected)
        self.h, self.c = self._state(len(lengths), projected), self._state(len(lengths), hidden)
        dnn, handle = _cudnn()
        self.layer, self.work, self.notes = self._described()
        size = c_size_t()
        check("cudnnGetRNNWeightSpaceSize", dnn.cudnnGetRNNWeightSpaceSize(handle, self.layer, byref(size)))
        self.weights, self.count = size.value, -(-size.value // kind.itemsize)
        self.places = self._places()
        forward, of_data, of_weights = (
            dnn.cudnnRNNForward,
            dnn.cudnnRNNBackwardData_v8,
            dnn.cudnnRNNBackwardWeights_v8,
        )
        forward.argtypes = [c_void_p] * 2 + [c_int] + [c_void_p] * 11 + [c_size_t, c_void_p] * 3
        of_data.argtypes = [c_void_p] * 16 + [c_size_t, c_void_p] * 3
        of_weights.argtypes = [c_void_p] * 2 + [c_int] + [c_void_p] * 7 + [c_size_t, c_void_p] * 3

    def _rows(self, lengths: list[int], width: int) -> c_void_p:
        made = _made("RNNData")
        layout = _EQUAL if self.equal else _PACKED
        status = _cudnn()[0].cudnnSetRNNDataDescriptor(
            made, _TYPES[self.kind], layout, max(lengths), len(lengths), width, _ints(lengths), None
        )
        check("cudnnSetRNNDataDescriptor", status)
        return made

    def _state(self, rows: int, width: int) -> c_void_p:
        made = _made("Tensor")
        shape, strides = _ints((1, rows, width)), _ints((rows * width, width, 1))
        status = _cudnn()[0].cudnnSetTensorNdDescriptor(made, _TYPES[self.kind], 3, shape, strides)
        check("cudnnSetTensorNdDescriptor", status)
        return made

    def _described(self) -> tuple[c_void_p, int, int]:
        """The layer, and the memory that it needs for a call and from forward to backward."""
        for algorithm in self._algorithms():
            try:
                return self._with(algorithm)
            except LibraryError:  # (there are more conditions than are known)
                pass
        return self._with(_STEP_BY_STEP)

    def _algorithms(self) -> list[int]:
        """Those that keep weights in registers, where they fit: all steps are one launch."""
        inputs, hidden, projected = self.sizes
        if not self.equal or projected != hidden or self.kind.itemsize == 8:
            return []
        if hidden <= (128 if self.mode[1] > 1 else 256):
            return [_PERSISTENT_AND_SMALL]
        half = self.kind.itemsize == 2
        return [_PERSISTENT] if half and hidden <= 1024 and not hidden % 128 and not inputs % 128 else []

    def _with(self, algorithm: int) -> tuple[c_void_p, int, int]:
        dnn, handle = _cudnn()
        kind = _TYPES[self.kind]
        math = _TENSOR_CORES if self.kind.itemsize == 2 else _DEFAULT
        if self.kind.itemsize == 4 and not precision.layers:
            math = _FLOAT32_EXACTLY
        layer = _made("RNN")
        status = dnn.cudnnSetRNNDescriptor_v8(
            layer, algorithm, self.mode[0], 2 if self.bias else 0, 0, 0, kind, 1 if kind == 1 else 0, math, *self.sizes, 1,
            _no_dropout(), 1 if self.equal else 0,
        )  # fmt: skip
        check("cudnnSetRNNDescriptor_v8", status)
        work, notes = c_size_t(), c_size_t()
        status = dnn.cudnnGetRNNTempSpaceSizes(handle, layer, _TRAINING, self.x, byref(work), byref(notes))
        check("cudnnGetRNNTempSpaceSizes", status)
        return layer, work.value, notes.value

    def _places(self) -> list[tuple[int, tuple[int, ...]]]:
        """Where w_ih, w_hh, b_ih, b_hh, w_hr begin, in bytes, and their shapes. The gates of each lie side by side."""
        (inputs, hidden, projected), gates = self.sizes, self.mode[1]
        room = cupy.cuda.alloc(self.weights)
        w_ih, b_ih = self._place(room.ptr, 0)
        w_hh, b_hh = self._place(room.ptr, gates)
        found = [(w_ih, (gates * hidden, inputs)), (w_hh, (gates * hidden, projected))]
        if self.bias:
            found += [(b_ih, (gates * hidden,)), (b_hh, (gates * hidden,))]
        for gate in range(gates):  # as they do in every version that is known
            size = self.kind.itemsize * hidden * gate
            if self._place(room.ptr, gate)[0] != w_ih + size * inputs:
                raise LibraryError("cuDNN wants the weights in another order")
            if self._place(room.ptr, gates + gate)[0] != w_hh + size * projected:
                raise LibraryError("cuDNN wants the weights in another order")
        if projected != hidden:
            found.append((self._place(room.ptr, 2 * gates)[0], (projected, hidden)))
        return found

    def _place(self, room: int, number: int) -> tuple[int, int]:
        dnn, handle = _cudnn()
        matrix, vector = c_uint64(), c_uint64()
        described = _made("Tensor"), _made("Tensor")
        status = dnn.cudnnGetRNNWeightParams(
            handle, self.layer, 0, c_size_t(self.weights), c_void_p(room), number, described[0], byref(matrix), described[1],
            byref(vector),
        )  # fmt: skip
        check("cudnnGetRNNWeightParams", status)
        for each in described:
            dnn.cudnnDestroyTensorDescriptor(each)
        return matrix.value - room, vector.value - room

    def gathered(self, weights: list[Any]) -> Any:
        """The weights side by side."""
        space = new((self.count,), self.kind)
        stream, begin = cupy.cuda.get_current_stream().ptr, space.data.ptr
        for (place, _), weight in zip(self.places, weights, strict=True):
            weight = cupy.ascontiguousarray(weight)
            cupy.cuda.runtime.memcpyAsync(begin + place, weight.data.ptr, weight.nbytes, _TO_ITSELF, stream)
        return space


@cache
def _no_dropout() -> c_void_p:
    """(Between layers it is an operation of its own.)"""
    dnn, handle = _cudnn()
    made = _made("Dropout")
    dnn.cudnnSetDropoutDescriptor.argtypes = [c_void_p, c_void_p, c_float, c_void_p, c_size_t, c_uint64]
    check("cudnnSetDropoutDescriptor", dnn.cudnnSetDropoutDescriptor(made, handle, 0.0, None, 0, 0))
    return made


_plans: dict[Any, _Plan] = {}


def _plan(mode: tuple[int, int], x: Any, w_hh: Any, hidden: int, bias: bool, steps: Any) -> _Plan:
    sizes = x.shape[1], hidden, w_hh.shape[1]
    key = (mode, x.dtype, sizes, bias, steps, precision.layers)
    found = _plans.get(key)
    if found is None:
        if len(_plans) > 256:
            _plans.clear()
        found = _plans[key] = _Plan(mode, x.dtype, sizes, bias, steps)
    return found


def _plan_behind(mode: tuple[int, int], x: Any, w_hh: Any, steps: Any, space: Any) -> _Plan:
    """The plan of the forward pass, which had a bias or not: it had as much space for weights."""
    plans = [_plan(mode, x, w_hh, w_hh.shape[0] // mode[1], bias, steps) for bias in (True, False)]
    return plans[0] if plans[0].count == space.size else plans[1]


def _place_of(x: Any) -> Any:
    return None if x is None else x.data.ptr


def _forward(mode: tuple[int, int], x: Any, weights: list[Any], h0: Any, c0: Any, steps: Any) -> Any:
    """Outputs, last state, last cell or None; the notes, and the weights as they were used."""
    weights = [each for each in weights if each is not None]
    plan = _plan(mode, x, weights[1], weights[0].shape[0] // mode[1], len(weights) > 3, steps)
    x, h0 = _walked(x, steps), cupy.ascontiguousarray(h0)
    c0 = None if c0 is None else cupy.ascontiguousarray(c0)
    space, out, h = plan.gathered(weights), new((len(x), plan.sizes[2]), x.dtype), new(h0.shape, x.dtype)
    c = None if c0 is None else new(c0.shape, x.dtype)
    notes = new((max(1, -(-plan.notes // x.itemsize)),), x.dtype)
    dnn, handle = on_stream()
    room = cupy.cuda.alloc(plan.work) if plan.work else None
    status = dnn.cudnnRNNForward(
        handle, plan.layer, _TRAINING, None, plan.x, x.data.ptr, plan.y, out.data.ptr, plan.h, h0.data.ptr, h.data.ptr, plan.c,
        _place_of(c0), _place_of(c), plan.weights, space.data.ptr, plan.work, None if room is None else room.ptr,
        plan.notes, notes.data.ptr,
    )  # fmt: skip
    check("cudnnRNNForward", status)
    return _walked(out, steps), h, c, notes, space


def _backward(
    mode: tuple[int, int], g: Any, x: Any, w_hh: Any, h0: Any, c0: Any, steps: Any, out: Any, notes: Any, space: Any, of_weights: bool
) -> tuple[Any, ...]:  # fmt: skip
    """Gradients of input, initial state and cell; then those of w_ih, w_hh, b_ih, b_hh, w_hr, if they are asked for."""
    g_out, g_h, g_c = g
    plan = _plan_behind(mode, x, w_hh, steps, space)
    kind = out.dtype
    x, out, h0 = _walked(x, steps), _walked(out, steps), cupy.ascontiguousarray(h0)
    c0 = None if c0 is None else cupy.ascontiguousarray(c0)
    outside = cupy.zeros(out.shape, kind) if g_out is None else _walked(g_out.astype(kind, copy=False), steps)
    g_h, g_c = (None if each is None else cupy.ascontiguousarray(each, kind) for each in (g_h, g_c))
    dx, dh, dc = new(x.shape, kind), new(h0.shape, kind), None if c0 is None else new(c0.shape, kind)
    dnn, handle = on_stream()
    room = cupy.cuda.alloc(plan.work) if plan.work else None
    scratch = plan.work, None if room is None else room.ptr, plan.notes, notes.data.ptr
    status = dnn.cudnnRNNBackwardData_v8(
        handle, plan.layer, None, plan.y, out.data.ptr, outside.data.ptr, plan.x, dx.data.ptr, plan.h, h0.data.ptr, _place_of(g_h),
        dh.data.ptr, plan.c, _place_of(c0), _place_of(g_c), _place_of(dc), plan.weights, space.data.ptr, *scratch,
    )  # fmt: skip
    check("cudnnRNNBackwardData_v8", status)
    found: list[Any] = []
    if of_weights:
        memory = cupy.cuda.alloc(plan.weights)
        memory.memset_async(0, plan.weights)
        status = dnn.cudnnRNNBackwardWeights_v8(
            handle, plan.layer, _ADD, None, plan.x, x.data.ptr, plan.h, h0.data.ptr, plan.y, out.data.ptr, plan.weights,
            memory.ptr, *scratch,
        )  # fmt: skip
        check("cudnnRNNBackwardWeights_v8", status)
        found = [over(shape, kind, memory + place) for place, shape in plan.places]
    if not plan.bias:
        found[2:2] = (None, None)
    return (_walked(dx, steps), dh, dc, *found, *(None,) * (5 - len(found)))


def _fits(x: Any, h0: Any, steps: Any, biases: tuple[Any, Any], *others: Any) -> bool:
    kinds = {each.dtype for each in (x, h0, *biases, *others) if each is not None}
    together = (biases[0] is None) is (biases[1] is None)
    return takes(x) and len(kinds) == 1 and together and bool(steps) and x.size > 0 and h0.size > 0


def _is_ours(notes: Any) -> bool:
    return bool(notes.ndim == 1 and notes.size)


# Long short-term memory -------------------------------------------------------------------------------


def _accepts_lstm(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any) -> bool:
    return _fits(x, h0, steps, (b_ih, b_hh), w_ih, w_hh, c0, w_hr)


@offer("lstm_layer", "cudnn", accepts=_accepts_lstm)
def lstm_layer(
    x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any
) -> Any:  # fmt: skip
    """Outputs, last state and cell; then what the backward pass needs."""
    return _forward(_LSTM, x, [w_ih, w_hh, b_ih, b_hh, w_hr], h0, c0, steps)


@offer("lstm_layer_backward", "cudnn", accepts=lambda *args: _is_ours(args[9]))
def lstm_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, c0: Any, w_hr: Any, steps: Any, out: Any, notes: Any, space: Any, needs: Any
) -> Any:  # fmt: skip
    """Gradients of all inputs."""
    asked = any(needs[1:5]) or needs[7]
    dx, dh, dc, *of_weights, of_projection = _backward(_LSTM, g, x, w_hh, h0, c0, steps, out, notes, space, asked)
    return (dx, *_wanted(of_weights, needs), dh, dc, of_projection if needs[7] else None)


def _wanted(of_weights: list[Any], needs: Any) -> list[Any]:
    return [each if need else None for each, need in zip(of_weights, needs[1:5], strict=True)]


# Gated recurrent unit ---------------------------------------------------------------------------------


@offer(
    "gru_layer",
    "cudnn",
    accepts=lambda x, w_ih, w_hh, b_ih, b_hh, h0, steps: _fits(x, h0, steps, (b_ih, b_hh), w_ih, w_hh),
)
def gru_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any) -> Any:
    """Outputs and last state; then what the backward pass needs."""
    out, h, _, notes, space = _forward(_GRU, x, [w_ih, w_hh, b_ih, b_hh], h0, None, steps)
    return out, h, notes, space


@offer("gru_layer_backward", "cudnn", accepts=lambda *args: _is_ours(args[7]))
def gru_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, out: Any, notes: Any, space: Any, needs: Any
) -> Any:
    """Gradients of all inputs."""
    dx, dh, _, *of_weights, _ = _backward(
        _GRU, (*g, None), x, w_hh, h0, None, steps, out, notes, space, any(needs[1:5])
    )
    return (dx, *_wanted(of_weights, needs), dh)


# Elman's network --------------------------------------------------------------------------------------


@offer(
    "rnn_layer",
    "cudnn",
    accepts=lambda x, w_ih, w_hh, b_ih, b_hh, h0, steps, relu: _fits(x, h0, steps, (b_ih, b_hh), w_ih, w_hh),
)
def rnn_layer(x: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, h0: Any, steps: Any, relu: bool) -> Any:
    """Outputs and last state; then what the backward pass needs."""
    out, h, _, notes, space = _forward(_RELU if relu else _TANH, x, [w_ih, w_hh, b_ih, b_hh], h0, None, steps)
    return out, h, notes, space


@offer("rnn_layer_backward", "cudnn", accepts=lambda *args: _is_ours(args[8]))
def rnn_layer_backward(
    g: Any, x: Any, w_ih: Any, w_hh: Any, h0: Any, steps: Any, relu: bool, out: Any, notes: Any, space: Any, needs: Any
) -> Any:
    """Gradients of all inputs."""
    mode = _RELU if relu else _TANH
    dx, dh, _, *of_weights, _ = _backward(
        mode, (*g[:2], None), x, w_hh, h0, None, steps, out, notes, space, any(needs[1:5])
    )
    return (dx, *_wanted(of_weights, needs), dh)

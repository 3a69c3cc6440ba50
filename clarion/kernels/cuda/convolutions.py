"""Convolutions by cuDNN: forward, gradient of the input (the transposed convolution), gradient of the weight.

Any strides are handed over as they are: channels-last images stay channels-last. Descriptors and the algorithm are chosen once
for each combination of shapes, strides and types.
"""

from __future__ import annotations

import ctypes
import math
from ctypes import byref, c_float, c_int, c_size_t, c_void_p
from functools import cache, lru_cache
from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from .. import precision
from ..choosing import always
from ..portable.layers.convolution import transposed_size
from ..registry import offer
from .arrays import laid_out
from .cudnn_graphs import GraphPlan
from .libraries import LibraryError, check, library

# cudnnDataType_t, cudnnTensorFormat_t, cudnnConvolutionMode_t, cudnnMathType_t
_TYPES: dict[Any, int] = {
    np.dtype(np.float32): 0,
    np.dtype(np.float64): 1,
    np.dtype(np.float16): 2,
    np.dtype(bfloat16): 9,
}
_NCHW, _NHWC = 0, 1
_CROSS_CORRELATION = 1
_TENSOR_CORES, _FLOAT32_EXACTLY = 1, 3


class _Perf(ctypes.Structure):
    _fields_ = (
        ("algo", c_int),
        ("status", c_int),
        ("time", c_float),
        ("memory", c_size_t),
        ("determinism", c_int),
        ("math", c_int),
        ("reserved", c_int * 3),
    )


@cache
def _cudnn() -> tuple[Any, c_void_p]:
    dnn = library("cudnn")
    handle = c_void_p()
    check("cudnnCreate", dnn.cudnnCreate(byref(handle)))
    return dnn, handle


_last_stream: list[int] = []


def on_stream() -> tuple[Any, c_void_p]:
    """cuDNN, working on the current stream."""
    dnn, handle = _cudnn()
    stream = cupy.cuda.get_current_stream().ptr
    if _last_stream != [stream]:
        check("cudnnSetStream", dnn.cudnnSetStream(handle, c_void_p(stream)))
        _last_stream[:] = [stream]
    return dnn, handle


def _made(kind: str) -> c_void_p:
    made = c_void_p()
    check(f"cudnnCreate{kind}Descriptor", getattr(_cudnn()[0], f"cudnnCreate{kind}Descriptor")(byref(made)))
    return made


def _ints(values: Any) -> Any:
    values = list(values)
    return (c_int * len(values))(*values)


def _four(shape: Any, strides: Any, last: int) -> tuple[list[int], list[int]]:
    """cuDNN wants at least four dimensions: one of size 1 is put in behind the channels."""
    shape, strides = list(shape), list(strides)
    return (shape, strides) if len(shape) > 3 else ([*shape[:2], 1, *shape[2:]], [*strides[:2], last, *strides[2:]])


def _tensor(x: Any) -> c_void_p:
    made = _made("Tensor")
    shape, strides = _four(x.shape, [s // x.itemsize for s in x.strides], x.strides[-1] // x.itemsize * x.shape[-1])
    status = _cudnn()[0].cudnnSetTensorNdDescriptor(made, _TYPES[x.dtype], len(shape), _ints(shape), _ints(strides))
    check("cudnnSetTensorNdDescriptor", status)
    return made


def _filter(weight: Any, channels_last: bool) -> c_void_p:
    made = _made("Filter")
    shape, _ = _four(weight.shape, weight.strides, 0)
    layout = _NHWC if channels_last else _NCHW
    status = _cudnn()[0].cudnnSetFilterNdDescriptor(made, _TYPES[weight.dtype], layout, len(shape), _ints(shape))
    check("cudnnSetFilterNdDescriptor", status)
    return made


_layouts: dict[Any, bool] = {}


def is_channels_last(x: Any) -> bool:
    """Do the channels of a place lie side by side, and the places densely?"""
    key = x.shape, x.strides
    found = _layouts.get(key)
    if found is None:
        if len(_layouts) > 4096:
            _layouts.clear()
        found = _layouts[key] = _lies_channels_last(x)
    return found


def _lies_channels_last(x: Any) -> bool:
    expected = x.itemsize
    for d in (1, *range(x.ndim - 1, 1, -1), 0):
        if x.shape[d] != 1 and x.strides[d] != expected:
            return False
        expected *= x.shape[d]
    return True


@lru_cache(maxsize=4096)
def last_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Strides of images whose channels lie side by side."""
    steps = [0] * len(shape)
    for d in (1, *range(len(shape) - 1, 1, -1), 0):
        steps[d] = size
        size *= shape[d]
    return tuple(steps)


def empty_as(shape: tuple[int, ...], dtype: Any, channels_last: bool) -> Any:
    """New memory in one of the two layouts."""
    strides = last_strides(shape, dtype.itemsize) if channels_last else None
    return laid_out(shape, dtype, strides, shape[0] * strides[0] if strides else 0)


def laid(x: Any, channels_last: bool) -> Any:
    """The array in a layout that cuDNN reads."""
    if is_channels_last(x) if channels_last else x._c_contiguous:
        return x
    if not channels_last:
        return cupy.ascontiguousarray(x)
    made = empty_as(x.shape, x.dtype, True)
    made[...] = x
    return made


class _Plan:
    """Descriptors and algorithm of one of the three convolutions."""

    def __init__(self, which: str, x: Any, weight: Any, y: Any, geometry: Any, channels_last: bool) -> None:
        dnn, handle = _cudnn()
        stride, padding, dilation, groups = geometry
        if len(stride) == 1:
            stride, padding, dilation = (1, *stride), (0, *padding), (1, *dilation)
        self.convolution = _made("Convolution")
        kind = _TYPES[x.dtype]
        status = dnn.cudnnSetConvolutionNdDescriptor(
            self.convolution,
            len(stride),
            _ints(padding),
            _ints(stride),
            _ints(dilation),
            _CROSS_CORRELATION,
            1 if kind == 1 else 0,
        )
        check("cudnnSetConvolutionNdDescriptor", status)
        check("cudnnSetConvolutionGroupCount", dnn.cudnnSetConvolutionGroupCount(self.convolution, groups))
        math = _FLOAT32_EXACTLY if kind == 0 and not precision.layers else _TENSOR_CORES
        check("cudnnSetConvolutionMathType", dnn.cudnnSetConvolutionMathType(self.convolution, math))
        filters = _filter(weight, channels_last)
        images, results = _tensor(x), _tensor(y)
        first, second, last = {
            "Forward": (images, filters, results),
            "BackwardData": (filters, results, images),
            "BackwardFilter": (images, results, filters),
        }[which]
        self.descriptors = first, second, last
        found, count = (_Perf * 8)(), c_int()
        choose = getattr(dnn, f"cudnnGetConvolution{which}Algorithm_v7")
        check(choose.__name__, choose(handle, first, second, self.convolution, last, 8, byref(count), found))
        self.algo, self.workspace = self._fitting(which, [found[i] for i in range(count.value)])
        run = getattr(dnn, f"cudnnConvolution{which}")
        run.argtypes = [c_void_p] * 7 + [c_int, c_void_p, c_size_t] + [c_void_p] * 3
        self.run_it, number = run, ctypes.c_double if kind == 1 else c_float
        self.numbers = number(1), number(0)
        self.one, self.zero = [ctypes.addressof(each) for each in self.numbers]

    def _fitting(self, which: str, found: list[_Perf]) -> tuple[int, int]:
        """The first algorithm, fastest first, that says how much memory it needs."""
        dnn, handle = _cudnn()
        first, second, last = self.descriptors
        for each in found:
            size = c_size_t()
            ask = getattr(dnn, f"cudnnGetConvolution{which}WorkspaceSize")
            if each.status == 0 and not ask(handle, first, second, self.convolution, last, each.algo, byref(size)):
                if not dnn.cudnnSetConvolutionMathType(self.convolution, each.math):
                    return each.algo, size.value
        raise LibraryError(f"cuDNN has no algorithm for this {which}")

    def run(self, a: Any, b: Any, out: Any) -> None:
        handle = on_stream()[1]
        room = cupy.cuda.alloc(self.workspace) if self.workspace else None
        first, second, last = self.descriptors
        status = self.run_it(
            handle, self.one, first, a.data.ptr, second, b.data.ptr, self.convolution, self.algo,
            room.ptr if room is not None else None, self.workspace, self.zero, last, out.data.ptr,
        )  # fmt: skip
        check(self.run_it.__name__, status)


_plans: dict[Any, Any] = {}


def _run(which: str, x: Any, weight: Any, y: Any, geometry: Any, channels_last: bool) -> Any:
    """One of the three convolutions, whose result is written into `y`, `x` or `weight`; the plan that it was run by."""
    key = (which, x.shape, weight.shape, y.shape, x.dtype, geometry, channels_last, precision.layers)
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = _graph_plan(which, x, weight, y, geometry) or _Plan(
            which, x, weight, y, geometry, channels_last
        )
    if type(plan) is GraphPlan and not (x.data.ptr | weight.data.ptr | y.data.ptr) & 15:
        on_stream()
        plan.run(x, weight, y)
        return plan
    if type(plan) is GraphPlan:
        plan = _Plan(which, x, weight, y, geometry, channels_last)
    first, second, out = {"Forward": (x, weight, y), "BackwardData": (weight, y, x), "BackwardFilter": (x, y, weight)}[
        which
    ]
    plan.run(first, second, out)
    return plan


def _graph_plan(which: str, x: Any, weight: Any, y: Any, geometry: Any) -> GraphPlan | None:
    """A plan by the graph interface, for half precision, if there is one."""
    stride, padding, dilation, groups = geometry
    if x.dtype.itemsize != 2 or groups != 1 or x.ndim < 4:
        return None
    places = [(a.shape, [s // a.itemsize for s in a.strides]) for a in (x, weight, y)]
    try:
        return GraphPlan(*_cudnn(), which, _TYPES[x.dtype], places, (stride, padding, dilation))
    except LibraryError:
        return None


def _accepts(a: Any, b: Any, *_: Any) -> bool:
    return 3 <= a.ndim <= 5 and a.dtype in _TYPES and a.dtype == b.dtype and a.size > 0 and b.size > 0


def _out_size(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[int, ...]:
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
    )


def _prefers_last(*arrays: Any) -> bool:
    """Is one of the arrays in channels-last layout and not, as it happens, in the other one, too?"""
    return any(x.ndim > 3 and not x._c_contiguous and is_channels_last(x) for x in arrays)


class _Ready:
    """One of the three convolutions on operands of known shapes, strides and types: the plan, and how the result lies."""

    def __init__(self, which: str, a: Any, b: Any, shape: tuple[int, ...], geometry: Any) -> None:
        self.which, self.geometry, self.shape = which, geometry, shape
        self.last = _prefers_last(a, b)
        # As they are? (Otherwise they are brought into the layout of the plan at every call.)
        self.plain = laid(a, self.last) is a and laid(b, self.last) is b
        self.strides = last_strides(shape, a.dtype.itemsize) if self.last else None
        self.kind, self.size = a.dtype, math.prod(shape) * a.dtype.itemsize
        self.graph: Any = None  # what is run without another question, once it is known

    def __call__(self, a: Any, b: Any) -> Any:
        if not self.plain:
            a, b = laid(a, self.last), laid(b, self.last)
        out = laid_out(self.shape, self.kind, self.strides, self.size)
        if not self.size:
            return out
        x, weight, y = (
            (a, b, out) if self.which == "Forward" else (out, b, a) if self.which == "BackwardData" else (b, out, a)
        )
        graph = self.graph
        if graph is not None and not (a.data.ptr | b.data.ptr) & 15:
            on_stream()
            graph.run(x, weight, y)
            return out
        plan = _run(self.which, x, weight, y, self.geometry, self.last)
        self.graph = plan if type(plan) is GraphPlan else None
        return out


_prepared: dict[Any, _Ready] = {}


def _ready(which: str, a: Any, b: Any, sizes: Any, geometry: Any) -> Any:
    """Run it. `sizes()`: the shape of the result."""
    key = (which, a.shape, a.strides, b.shape, b.strides, a.dtype, b.dtype, geometry, sizes, precision.layers)
    found = _prepared.get(key)
    if found is None:
        if not _accepts(a, b):
            return NotImplemented
        if len(_prepared) > 4096:
            _prepared.clear()
        shape = _SHAPES[which](a.shape, b.shape, geometry, sizes)
        found = _prepared[key] = _Ready(which, a, b, shape, geometry)
    return found(a, b)


def _of_forward(x: Any, weight: Any, geometry: Any, _: Any) -> tuple[int, ...]:
    return (x[0], weight[0], *_out_size(x[2:], weight[2:], *geometry[:3]))


# The shape of each one's result, of those of its operands.
_SHAPES: dict[str, Any] = {
    "Forward": _of_forward,
    "BackwardData": lambda g, weight, geometry, size: (g[0], weight[1] * geometry[3], *size),
    "BackwardFilter": lambda g, x, geometry, size: (g[1], x[1] // geometry[3], *size),
}


@offer("correlate", "cudnn", accepts=always)
def correlate(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The convolution of x, without bias."""
    return _ready("Forward", x, weight, None, (stride, padding, dilation, groups))


@offer("correlate_input", "cudnn", accepts=always)
def correlate_input(g: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, in_size: Any) -> Any:
    """What each place of an input of size `in_size` gets from g."""
    return _ready("BackwardData", g, weight, in_size, (stride, padding, dilation, groups))


@offer("correlate_weight", "cudnn", accepts=always)
def correlate_weight(g: Any, x: Any, stride: Any, padding: Any, dilation: Any, groups: int, ksize: Any) -> Any:
    """The gradient of the weight: (O, C / groups, *ksize)."""
    return _ready("BackwardFilter", g, x, ksize, (stride, padding, dilation, groups))


def _accepts_convolution(x: Any, weight: Any, bias: Any, *_: Any) -> bool:
    return _accepts(x, weight) and (bias is None or bias.dtype == x.dtype)


@offer("convolution", "cudnn", accepts=_accepts_convolution)
def convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """What PyTorch's convolutions compute; for the transposed one `weight` is (C, O / groups, *K)."""
    if transposed:
        size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
        out = correlate_input(x, weight, stride, padding, dilation, groups, size)
    else:
        out = correlate(x, weight, stride, padding, dilation, groups)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return out

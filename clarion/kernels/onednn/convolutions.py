"""Convolutions of float32: forward, with respect to the input, with respect to the weight; any stride, dilation, groups.

Arrays are brought into the blocked layouts that the convolution works in, and back: that is part of what is measured.
"""

from __future__ import annotations

import math
from ctypes import byref, c_void_p
from functools import lru_cache
from typing import Any

import numpy

from ..layout import channels_last
from ..portable.layers.convolution import transposed_size
from ..registry import offer
from . import library as onednn
from .library import Failed, library
from .primitives import (
    BIAS,
    DIFF_DST,
    DIFF_SRC,
    DIFF_WEIGHTS,
    DST,
    KEPT,
    SRC,
    WEIGHTS,
    Reordered,
    address,
    layout,
    sizes,
)

F32 = numpy.dtype(numpy.float32)
Sizes = tuple[int, ...]
DIRECT, TRAINING = 1, 64
SMALL = 64  # elements of the first array: with fewer nobody asks

# Where the portable kernels were faster: a kernel of one element is a product as it lies; gradients of images with one or two channels,
# and of weights in groups that fill no vector, leave most of a vector empty.


def _steps(shape: Sizes) -> Sizes:
    """The strides of a contiguous array, in elements."""
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


def _steps_of_images(shape: Sizes, last: bool) -> Sizes:
    """The strides of contiguous images, or of images whose channels lie last."""
    if not last:
        return _steps(shape)
    n, c, *size = shape
    batch, *inner, _ = _steps((n, *size, c))
    return (batch, 1, *inner)


def _by_group(shape: Sizes, groups: int) -> Sizes:
    """The weight's shape as oneDNN has it."""
    return shape if groups == 1 else (groups, shape[0] // groups, *shape[1:])


@lru_cache(maxsize=KEPT)
def _made(
    kind: str, x: Sizes, weight: Sizes, out: Sizes, bias: bool, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int,
    last: bool,
) -> Reordered | None:  # fmt: skip
    """The primitive for shapes: `kind` says which of the three arrays it computes, `last` that channels lie last."""
    on, weight = library(), _by_group(weight, groups)
    biases = layout(out[1:2], (1,)) if bias else None
    lying = [_steps_of_images(x, last), _steps(weight), _steps_of_images(out, last)]
    # Images in the order of their channels are worked on as they lie, others in blocks.
    free = [layout(x, lying[0] if last else None), layout(weight), layout(out, lying[2] if last else None)]
    geometry = [sizes(stride), sizes([d - 1 for d in dilation]), sizes(padding), sizes(padding)]
    try:
        forward, description = c_void_p(), c_void_p()
        on.convolution_forward_primitive_desc_create(
            byref(forward), on.engine, TRAINING, DIRECT, free[0], free[1], biases, free[2], *geometry, None
        )
        if kind == "out":
            description = forward
        elif kind == "input":
            on.convolution_backward_data_primitive_desc_create(
                byref(description), on.engine, DIRECT, *free, *geometry, forward, None
            )
        else:
            on.convolution_backward_weights_primitive_desc_create(
                byref(description), on.engine, DIRECT, free[0], free[1], None, free[2], *geometry, forward, None
            )
        mine = [layout(shape, steps) for shape, steps in zip((x, weight, out), lying, strict=True)]
        names = {
            "out": (SRC, WEIGHTS, DST),
            "input": (DIFF_SRC, WEIGHTS, DIFF_DST),
            "weight": (SRC, DIFF_WEIGHTS, DIFF_DST),
        }
        given = dict(zip(names[kind], mine, strict=True)) | ({BIAS: biases} if bias else {})
        return Reordered(description, given)
    except Failed:
        return None


def _pointwise(ksize: Sizes, stride: Sizes, padding: Sizes) -> bool:
    return math.prod(ksize) == 1 and max(stride) == 1 and max(padding) == 0


def _run(kind: str, x: Any, weight: Any, out: Any, bias: Any, geometry: tuple[Any, ...]) -> bool:
    """Compute one of the three arrays from the other two; False where oneDNN does not."""
    if not onednn.running.acquire(False):
        return False
    try:
        primitive = _made(kind, x.shape, weight.shape, out.shape, bias is not None, *geometry)
        if primitive is None:
            return False
        arrays = (x, weight, out) if bias is None else (x, weight, out, bias)
        primitive.run(*[address(array) for array in arrays])
        return True
    except Failed:
        return False
    finally:
        onednn.running.release()


def _is_ready(*arrays: Any) -> bool:
    """Are all of float32, and is there anything to compute?"""
    return all(array.dtype is F32 and array.size for array in arrays)


def _images(x: Any, last: bool) -> Any:
    """Images, contiguous or with their channels last."""
    if not last:
        return numpy.ascontiguousarray(x)
    return numpy.ascontiguousarray(x.transpose(0, *range(2, x.ndim), 1)).transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _room(shape: Sizes, last: bool) -> Any:
    """Room for images."""
    if not last:
        return numpy.empty(shape, F32)
    n, c, *size = shape
    return numpy.empty((n, *size, c), F32).transpose(0, len(shape) - 1, *range(1, len(shape) - 1))


def correlate(
    x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, bias: Any = None
) -> Any:
    """The convolution of x."""
    if not _is_ready(x, weight) or (bias is not None and (bias.dtype is not F32 or bias.strides != (4,))):
        return NotImplemented
    size = tuple(
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, p, d, k, t in zip(x.shape[2:], padding, dilation, weight.shape[2:], stride, strict=True)
    )
    if min(size) <= 0 or _pointwise(weight.shape[2:], stride, padding):
        return NotImplemented
    last = channels_last(x)
    out = _room((x.shape[0], weight.shape[0], *size), last)
    arrays = (_images(x, last), numpy.ascontiguousarray(weight), out)
    return out if _run("out", *arrays, bias, (stride, padding, dilation, groups, last)) else NotImplemented


@offer("correlate", "onednn", least=SMALL)
def _correlate(x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    return correlate(x, weight, stride, padding, dilation, groups)


@offer("correlate_input", "onednn", least=SMALL)
def correlate_input(
    g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input of size `in_size` gets from g."""
    if not _is_ready(g, weight) or min(in_size) <= 0 or _pointwise(weight.shape[2:], stride, padding):
        return NotImplemented
    if groups == 1 and weight.shape[1] < 3:
        return NotImplemented
    last = channels_last(g)
    x = _room((g.shape[0], weight.shape[1] * groups, *in_size), last)
    arrays = (x, numpy.ascontiguousarray(weight), _images(g, last))
    return x if _run("input", *arrays, None, (stride, padding, dilation, groups, last)) else NotImplemented


@offer("correlate_weight", "onednn", least=SMALL)
def correlate_weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> Any:
    """The gradient of the weight."""
    if not _is_ready(g, x) or min(ksize) <= 0:
        return NotImplemented
    if 1 < groups < x.shape[1] and (g.shape[1] // groups % 16 or x.shape[1] // groups % 16):
        return NotImplemented
    last = channels_last(x)
    weight = numpy.empty((g.shape[1], x.shape[1] // groups, *ksize), F32)
    arrays = (_images(x, last), weight, _images(g, last))
    return weight if _run("weight", *arrays, None, (stride, padding, dilation, groups, last)) else NotImplemented


@offer("convolution", "onednn", least=SMALL)
def convolution(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """What PyTorch's convolutions compute."""
    if not transposed:
        return correlate(x, weight, stride, padding, dilation, groups, bias)
    size = transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding)
    out = correlate_input(x, weight, stride, padding, dilation, groups, size)
    if out is not NotImplemented and bias is not None:
        out += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return out

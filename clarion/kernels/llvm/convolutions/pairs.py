"""Convolutions of bfloat16 by the processor's own instruction: pairs of neighbouring channels stand in the place of a float32.

Images and weights are woven once (where channels lie together they are read as they are), slabs and tiles move pairs around as they do
numbers, sums are of float32, and results are rounded once. The weight's gradient is a sum over results: there pairs are of two images.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...halved import KERNELS
from ...layout import laid_as
from ...registry import raw
from ..products.pairs import woven
from ..rounding import BF16, BITS, F32
from . import calls
from .geometry import Sizes


def _paired(x: Any, axis: int) -> Any:
    """Pairs of neighbours along an axis, as float32; the last may stand beside nothing."""
    if x.strides[axis] == 2 and not x.shape[axis] % 2 and x.ctypes.data % 4 == 0:
        last = x.transpose(*range(axis), *range(axis + 1, x.ndim), axis)
        if last.flags.c_contiguous:
            return last.view(F32).transpose(*range(axis), x.ndim - 1, *range(axis, x.ndim - 1))
    bits, before = x.view(BITS), (slice(None),) * axis
    first, second = (bits[(*before, slice(k, None, 2))] for k in (0, 1))
    if x.shape[axis] % 2:
        second = np.concatenate([second, np.zeros_like(first[(*before, slice(0, 1))])], axis)
    return woven(first, second)


def _ready(x: Any, weight: Any, groups: int, size: Sizes, work: int) -> Any:
    """The functions, if these are images and weights for them: several channels, and much to do."""
    if x.dtype != BF16 or weight.dtype != BF16 or groups != 1 or x.shape[1] < 2 or min(size, default=0) < 1:
        return None
    return calls.convolutions_of_pairs() if work >= calls.LEAST else None


def correlate(
    x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, bias: Any = None
) -> Any:
    """The convolution of x."""
    size = calls.size_of(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    on = _ready(x, weight, groups, size, weight.size * len(x) * math.prod(size))
    if on is None or (bias is not None and bias.dtype != BF16):
        return NotImplemented
    bias = None if bias is None else raw.cast(bias, F32)
    images, weights = (_paired(each, 1) for each in (x, weight))
    return raw.cast(calls.convolved(on, images, weights, stride, padding, dilation, 1, size, bias), BF16)


def correlate_input(
    g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input of size `in_size` gets from g."""
    on = _ready(g, weight, groups, in_size, weight.size * len(g) * math.prod(g.shape[2:]))
    if on is None:
        return NotImplemented
    gradients, weights = _paired(g, 1), _paired(weight, 0)
    return raw.cast(calls.spread(on, gradients, weights, stride, padding, dilation, 1, in_size), BF16)


def correlate_weight(g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes) -> Any:
    """The gradient of the weight."""
    work = g.size * (x.shape[1] // groups) * math.prod(ksize)
    if g.dtype != BF16 or x.dtype != BF16 or groups != 1 or g.shape[1] == 1 or len(x) < 2 or work < calls.LEAST:
        return NotImplemented
    on = calls.convolutions_of_pairs() if min((*g.shape, *x.shape, *ksize)) > 0 else None
    if on is None:
        return NotImplemented
    found = calls.summed(on, _paired(g, 0), _paired(x, 0), stride, padding, dilation, 1, ksize)
    return raw.cast(found, BF16)


def convolution(
    x: Any, weight: Any, bias: Any, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """What PyTorch's convolutions compute, but for transposed ones."""
    return (
        NotImplemented if transposed else correlate(laid_as(x, weight), weight, stride, padding, dilation, groups, bias)
    )


def make() -> None:
    """Kernels by the names of their operations. (Nobody asks for the processor before one is called.)"""
    KERNELS.update(
        {function.__name__: function for function in (correlate, correlate_input, correlate_weight, convolution)}
    )

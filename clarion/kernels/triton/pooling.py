"""Pooling on the GPU: one launch forward, one backward, of images row by row or with their channels side by side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import triton.language as tl

from ..cuda.arrays import laid_out
from ..cuda.convolutions import is_channels_last, laid, last_strides
from ..registry import offer
from . import pooling_text as text
from .build import FLOATS, Kernel, Launch
from .rows import _kept

_max_pool, _avg_pool, _backward = Kernel(text.max_pool), Kernel(text.avg_pool), Kernel(text.pool_backward)
_BLOCK = 512
_PLACES = np.dtype(np.int64)
_MOST = 2**31 - _BLOCK  # elements, counted in 32 bits

Sizes = tuple[int, ...]
Windows = tuple[Sizes, Sizes, Sizes, Sizes]  # size, stride, padding, dilation


def _three(sizes: Sizes, first: int = 1) -> Sizes:
    """In three dimensions."""
    return (first,) * (3 - len(sizes)) + tuple(sizes)


def _prefers_last(x: Any, n: int) -> bool:
    """Do the results lie with their channels side by side? (In three dimensions they never do.)"""
    return bool(n == 2 and x.ndim == 4 and not x._c_contiguous and is_channels_last(x))


class _Images:
    """How pooled images lie: the numbers that kernels are told, and new ones."""

    def __init__(self, x: Any, size: Sizes, out_size: Sizes, last: bool) -> None:
        self.last, n = last, len(size)
        self.lead, self.size, self.out_size = x.shape[: x.ndim - n], tuple(size), tuple(out_size)
        self.inner = x.shape[1] if last else 1
        self.told = (self.inner, *_three(self.size), *_three(self.out_size))

    def new(self, size: Sizes, kind: Any) -> Any:
        """Memory for images of this size."""
        shape = (*self.lead, *size)
        strides = last_strides(shape, kind.itemsize) if self.last else None
        return laid_out(shape, kind, strides, math.prod(shape) * kind.itemsize)


def _windows(kind: Any, windows: Windows | None, longest: Sizes) -> dict[str, Any]:
    """What the text is compiled for. Without windows of one size: those that cover the input, of at most `longest` places."""
    n = len(longest)
    sizes, stride, padding, dilation = windows or (longest, (1,) * n, (0,) * n, (1,) * n)
    parts = (("K", _three(sizes)), ("S", _three(stride)), ("P", _three(padding, 0)), ("D", _three(dilation)))
    modes: dict[str, Any] = {
        f"{letter}{axis}": v for letter, values in parts for axis, v in zip("ZYX", values, strict=True)
    }
    return modes | {"ADAPTIVE": windows is None, "KIND": tl.float64 if kind.itemsize == 8 else tl.float32, "B": _BLOCK}


def _longest(size: Sizes, out_size: Sizes) -> Sizes:
    """Places of the longest window in each dimension, of so many that cover the input."""
    return tuple(max(-(-(i + 1) * n // o) - i * n // o for i in range(o)) for n, o in zip(size, out_size, strict=True))


def _candidates(size: Sizes, out_size: Sizes, windows: Windows | None) -> Sizes:
    """How many windows can reach an element in each dimension."""
    if windows is None:
        return tuple(
            max(-(-(i + 1) * o // n) - i * o // n for i in range(n)) for n, o in zip(size, out_size, strict=True)
        )
    sizes, stride, _, dilation = windows
    return tuple((k - 1) * d // s + 1 for k, d, s in zip(sizes, dilation, stride, strict=True))


def _blocks(count: int) -> tuple[int]:
    return (-(-count // _BLOCK),)


def _pooled(x: Any, out_size: Sizes) -> bool:
    return x.dtype in FLOATS and 0 < x.size < _MOST and 0 not in out_size


def _forward(
    kernel: Kernel, x: Any, windows: Windows | None, out_size: Sizes, last: bool, *told: int, **modes: bool
) -> tuple[_Images, Launch]:
    """How the results of windows lie, and the launch that makes them."""
    size = x.shape[x.ndim - len(out_size) :]
    images = _Images(x, size, out_size, last)
    count = math.prod(images.lead) * math.prod(out_size)
    modes = modes | _windows(x.dtype, windows, _longest(size, out_size) if windows is None else windows[0])
    return images, Launch(kernel, _blocks(count), (count, *images.told, *told), **modes)


# The largest ---------------------------------------------------------------------------------------------------------


def _largest(x: Any, windows: Windows | None, out_size: Sizes) -> tuple[Any, Any]:
    last = _prefers_last(x, len(out_size))
    x = laid(x, last)
    key = ("max_pool", x.shape, x.dtype, last, windows, out_size)
    images, launch = _kept(key, lambda: _forward(_max_pool, x, windows, out_size, last))
    out, places = images.new(out_size, x.dtype), images.new(out_size, _PLACES)
    launch.run(x, out, places)
    return out, places


def max_pool(x: Any, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The largest element of each window, and its place in the plane."""
    return _largest(x, (ksize, stride, padding, dilation), out_size)


def adaptive_max_pool(x: Any, out_size: Sizes) -> Any:
    """The largest element of each of `out_size` windows that cover the input, and its place."""
    return _largest(x, None, out_size)


@offer("max_pool_backward", "triton", accepts=lambda g, places, shape, *_: _pooled(g, shape))
def max_pool_backward(g: Any, places: Any, shape: Sizes, n: int, windows: Windows | None) -> Any:
    """Each gradient at the place of its window's largest element."""
    return _spread(g, places, shape[len(shape) - n :], windows, True, False, None)


# Means ---------------------------------------------------------------------------------------------------------------


def _mean(x: Any, windows: Windows | None, out_size: Sizes, padded: bool, divisor: int | None) -> Any:
    last = _prefers_last(x, len(out_size))
    x = laid(x, last)
    modes, key = (
        {"PADDED": padded, "GIVEN": divisor is not None},
        ("avg_pool", x.shape, x.dtype, last, windows, out_size),
    )
    images, launch = _kept(
        (*key, padded, divisor), lambda: _forward(_avg_pool, x, windows, out_size, last, divisor or 1, **modes)
    )
    out = images.new(out_size, x.dtype)
    launch.run(x, out)
    return out


def _spread(
    g: Any, places: Any, size: Sizes, windows: Windows | None, largest: bool, padded: bool, divisor: int | None
) -> Any:
    """The gradient of the input, of this size."""
    n = len(size)
    last = _prefers_last(g, n) or (largest and _prefers_last(places, n))
    g, places = laid(g, last), laid(places, last) if largest else g

    def make() -> tuple[_Images, Launch]:
        out_size = g.shape[g.ndim - n :]
        images = _Images(g, size, out_size, last)
        count = math.prod(images.lead) * math.prod(size)
        modes = _windows(g.dtype, windows, _longest(size, out_size) if windows is None else windows[0])
        modes |= dict(zip(("CZ", "CY", "CX"), _three(_candidates(size, out_size, windows)), strict=True))
        modes |= {"LARGEST": largest, "PADDED": padded, "GIVEN": divisor is not None}
        return images, Launch(_backward, _blocks(count), (count, *images.told, divisor or 1), **modes)

    key = ("pool_backward", g.shape, g.dtype, last, size, windows, largest, padded, divisor)
    images, launch = _kept(key, make)
    out = images.new(size, g.dtype)
    launch.run(g, places, out)
    return out


def avg_pool(
    x: Any, ksize: Sizes, stride: Sizes, padding: Sizes, out_size: Sizes, with_padding: bool, divisor: int | None
) -> Any:
    """The sum of each window over its size."""
    return _mean(x, (ksize, stride, padding, (1,) * len(ksize)), out_size, with_padding, divisor)


def _accepts_spread(g: Any, in_size: Sizes, *_: Any) -> bool:
    return _pooled(g, in_size) and math.prod(g.shape[: g.ndim - len(in_size)]) * math.prod(in_size) < _MOST


@offer("avg_pool_backward", "triton", accepts=_accepts_spread)
def avg_pool_backward(
    g: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, with_padding: bool, divisor: int | None
) -> Any:
    """Each gradient over the size of its window, added to all of it."""
    return _spread(g, None, in_size, (ksize, stride, padding, (1,) * len(ksize)), False, with_padding, divisor)


def adaptive_avg_pool(x: Any, out_size: Sizes, mode: str, scales: Any, align: bool) -> Any:
    """The mean of each of `out_size` windows that cover the input."""
    return _mean(x, None, out_size, False, None)


@offer(
    "resample_backward",
    "triton",
    accepts=lambda g, in_size, mode, scales, align: mode == "area" and _accepts_spread(g, in_size),
)
def resample_backward(g: Any, in_size: Sizes, mode: str, scales: Any, align: bool) -> Any:
    """Each gradient over the size of its window, added to all of it."""
    return _spread(g, None, tuple(in_size), None, False, False, None)


for _n in (2, 3):
    offer(f"max_pool{_n}d", "triton", max_pool, accepts=lambda x, *rest: _pooled(x, rest[-1]))
    offer(f"adaptive_max_pool{_n}d", "triton", adaptive_max_pool, accepts=_pooled)
    offer(f"avg_pool{_n}d", "triton", avg_pool, accepts=lambda x, *rest: _pooled(x, rest[3]))
    offer(f"adaptive_avg_pool{_n}d", "triton", adaptive_avg_pool, accepts=lambda x, out_size, *_: _pooled(x, out_size))

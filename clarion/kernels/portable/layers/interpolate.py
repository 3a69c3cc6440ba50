"""Resampling: each output is a weighted sum of few inputs, one dimension after the other.

A *table* says of one dimension which: a list of taps, each (outputs, inputs, weights): `outputs` None for all of them,
`weights` None for 1. Inputs never decrease, so that gradients are added up run by run.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ...layout import as_images, in_rows
from ...registry import kernel
from .pooling import adaptive_bounds

Sizes = tuple[int, ...]
Table = tuple[tuple[Any, Any, Any], ...]


def _sources(n: int, size: int, scale: float | None, align: bool, cubic: bool) -> Any:
    """The place in the input that each output looks at."""
    i = np.arange(size, dtype=np.float64)
    if align:
        return i * ((n - 1) / (size - 1)) if size > 1 else i * 0
    ratio = 1 / scale if scale is not None and scale > 0 else n / size
    place = (i + 0.5) * ratio - 0.5
    return place if cubic else np.maximum(place, 0)


def _linear(n: int, size: int, scale: float | None, align: bool) -> Table:
    place = _sources(n, size, scale, align, False)
    low = np.minimum(place.astype(np.int64), n - 1)
    high = np.minimum(low + 1, n - 1)
    part = np.clip(place - low, 0, 1)
    return (None, low, 1 - part), (None, high, part)


def _cubic(n: int, size: int, scale: float | None, align: bool) -> Table:
    place = _sources(n, size, scale, align, True)
    low = np.floor(place)
    t = np.clip(place - low, 0, 1)
    a = -0.75

    def near(d: Any) -> Any:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: Any) -> Any:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    return tuple((None, np.clip(low + k - 1, 0, n - 1).astype(np.int64), w) for k, w in enumerate(weights))


def _nearest(n: int, size: int, scale: float | None, exact: bool) -> Table:
    # In single precision, as PyTorch: which neighbour is taken can depend on it.
    ratio = np.float32(1 / scale) if scale is not None and scale > 0 else np.float32(n) / np.float32(size)
    i = np.arange(size).astype(np.float32)
    place = np.floor((i + np.float32(0.5) if exact else i) * ratio).astype(np.int64)
    return ((None, np.minimum(place, n - 1), None),)


# Without aliasing: the filter is as wide as the step between outputs, so that no input is passed over.
FILTERS = {
    "linear-aa": (1, lambda x: 1 - x),
    "cubic-aa": (2, lambda x: np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, -0.5 * (((x - 5) * x + 8) * x - 4))),
    "lanczos-aa": (3, lambda x: np.sinc(x) * np.sinc(x / 3)),
}


def _wide(mode: str, n: int, size: int, scale: float | None, align: bool) -> Table:
    width, shape = FILTERS[mode]
    if align:
        step = (n - 1) / (size - 1) if size > 1 else 0.0
    else:
        step = 1 / scale if scale is not None and scale > 0 else n / size
    stretch = max(step, 1.0)
    center = step * (np.arange(size) + 0.5)
    start = np.maximum((center - width * stretch + 0.5).astype(np.int64), 0)
    count = np.minimum((center + width * stretch + 0.5).astype(np.int64), n) - start
    places = start[:, None] + np.arange(count.max())
    away = np.abs(places - center[:, None] + 0.5) / stretch
    weights = np.where((away < width) & (places < (start + count)[:, None]), shape(away), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    taps = []
    for t in range(places.shape[1]):
        there = np.flatnonzero(count > t)
        taps.append((None if len(there) == size else there, places[there, t], weights[there, t]))
    return tuple(taps)


def _area(n: int, size: int) -> Table:
    start, end = adaptive_bounds(n, size)
    count = end - start
    taps = []
    for t in range(int(count.max()) if size else 0):
        there = np.flatnonzero(count > t)
        every = len(there) == size
        taps.append((None if every else there, (start + t)[there], 1 / count[there]))
    return tuple(taps)


@functools.lru_cache(maxsize=256)
def table(mode: str, n: int, size: int, scale: float | None, align: bool) -> Table:
    """What each of `size` outputs takes from `n` inputs."""
    if mode == "linear":
        return _linear(n, size, scale, align)
    if mode == "cubic":
        return _cubic(n, size, scale, align)
    if mode == "area":
        return _area(n, size)
    if mode in FILTERS:
        return _wide(mode, n, size, scale, align)
    return _nearest(n, size, scale, mode == "nearest-exact")


def _shaped(xp: Any, weights: Any, kind: Any, after: int) -> Any:
    """Weights along a dimension that has `after` dimensions behind it."""
    return xp.asarray(weights, kind).reshape(-1, *(1,) * after)


@functools.lru_cache(maxsize=128)
def matrix(mode: str, n: int, size: int, scale: float | None, align: bool, kind: str) -> Any:
    """A table as a matrix, (size, n)."""
    made = np.zeros((size, n))
    for where, source, weights in table(mode, n, size, scale, align):
        rows = np.arange(size) if where is None else where
        np.add.at(made, (rows, source), 1.0 if weights is None else weights)
    return made.astype(kind)


DENSE = 256  # up to this many inputs a product of matrices is faster than a few passes over everything


def along(xp: Any, x: Any, axis: int, weights: Any) -> Any:
    """The product of a matrix with one dimension of x."""
    weights = xp.asarray(weights)
    if axis == x.ndim - 1:
        return x @ weights.T
    lead, after = x.shape[:axis], x.shape[axis + 1 :]
    return (weights @ x.reshape(*lead, x.shape[axis], math.prod(after))).reshape(*lead, weights.shape[0], *after)


def all_finite(xp: Any, x: Any) -> bool:
    """May zeros of a matrix meet infinities or NaNs? (A sum that overflows says no, too.)"""
    return bool(xp.isfinite(x.sum()))


def take_along(xp: Any, x: Any, axis: int, taps: Table, size: int) -> Any:
    """One dimension resampled, tap by tap."""
    after = x.ndim - axis - 1
    if len(taps) == 1 and taps[0][2] is None:
        return x.take(xp.asarray(taps[0][1]), axis=axis)
    out = xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    lead = (slice(None),) * axis
    for where, source, weights in taps:
        values = x.take(xp.asarray(source), axis=axis)
        values *= _shaped(xp, weights, x.dtype, after)
        if where is None:
            out += values
        else:
            out[(*lead, xp.asarray(where))] += values
    return out


def put_along(xp: Any, g: Any, axis: int, taps: Table, n: int) -> Any:
    """The transposed form: the gradient of a dimension with `n` elements."""
    after = g.ndim - axis - 1
    out = xp.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
    lead = (slice(None),) * axis
    for where, source, weights in taps:
        values = g if where is None else g.take(xp.asarray(where), axis=axis)
        if weights is not None:
            values = values * _shaped(xp, weights, g.dtype, after)
        starts = np.flatnonzero(np.diff(source, prepend=-1))
        if len(starts) < len(source):  # inputs that several outputs took: runs, because they never decrease
            values = xp.add.reduceat(values, starts, axis=axis)
        out[(*lead, xp.asarray(source[starts]))] += values
    return out


def resample(xp: Any, x: Any, out_size: Sizes, mode: str, scales: tuple[float | None, ...], align: bool) -> Any:
    """The last dimensions resampled to `out_size`."""
    if x.dtype.kind in "iu" and not mode.startswith("nearest"):
        return resample_bytes(xp, x, out_size, mode, scales, align)
    first = x.ndim - len(out_size)
    given = x
    dense = not mode.startswith("nearest") and x.size > 0 and all_finite(xp, x)
    for i, size in enumerate(out_size):
        n = x.shape[first + i]
        if n == size and scales[i] is None and mode != "cubic":
            continue
        if dense and n <= DENSE:
            x = along(xp, x, first + i, matrix(mode, n, size, scales[i], align, x.dtype.char))
        else:
            x = take_along(xp, x, first + i, table(mode, n, size, scales[i], align), size)
    return x.copy() if x is given else x


def _bits(largest: float) -> int:
    """By how many bits weights are shifted so that the largest just fits into 16."""
    bits = 0
    while bits < 22 and int(0.5 + largest * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    return bits


def resample_bytes(xp: Any, x: Any, out_size: Sizes, mode: str, scales: tuple[float | None, ...], align: bool) -> Any:
    """Images of bytes: the last dimension first, rounded to bytes after each, with weights in whole numbers as PyTorch's."""
    first = x.ndim - len(out_size)
    for i, size in reversed(tuple(enumerate(out_size))):
        if x.shape[first + i] != size or scales[i] is not None:
            taps = table(mode, x.shape[first + i], size, scales[i], align)
            bits = _bits(max(float(w.max()) for _, _, w in taps))
            whole = tuple((where, at, np.rint(w * (1 << bits)).astype(np.int64)) for where, at, w in taps)
            made = take_along(xp, x.astype(xp.int64), first + i, whole, size)
            x = xp.clip((made + (1 << (bits - 1))) >> bits, 0, 255).astype(xp.uint8)
    return x


def resample_backward(xp: Any, g: Any, in_size: Sizes, mode: str, scales: tuple[float | None, ...], align: bool) -> Any:
    """The gradient of an input whose last dimensions have `in_size`."""
    first = g.ndim - len(in_size)
    given = g
    g = xp.ascontiguousarray(g)
    dense = g.size > 0 and all_finite(xp, g)
    for i, n in reversed(tuple(enumerate(in_size))):
        size = g.shape[first + i]
        if n == size and scales[i] is None and mode != "cubic":
            continue
        if dense and n <= DENSE:
            g = along(xp, g, first + i, matrix(mode, n, size, scales[i], align, g.dtype.char).T)
        else:
            g = put_along(xp, g, first + i, table(mode, n, size, scales[i], align), n)
    return g.copy() if g is given else g


# One operation per mode and number of dimensions: PyTorch's nodes are named after them.
IMAGES = (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_nearest_exact1d", "upsample_nearest_exact2d",
    "upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d", "upsample_bilinear2d_aa", "upsample_bicubic2d_aa",
    "upsample_lanczos2d_aa", "upsample_trilinear3d", "upsample_bicubic2d", "adaptive_avg_pool2d",
)  # fmt: skip
for _name in IMAGES:
    kernel(_name)(as_images(resample))
kernel("adaptive_avg_pool3d")(in_rows(resample))
kernel("resample_backward")(as_images(resample_backward))

"""Pooling: the largest element, or the mean, of each window. Loops run over the places of a window, never over elements.

All take (…, *S): the last dimensions, as many as the window has, are pooled.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from ...layout import ARRAYS, as_image, as_images, in_rows
from ...registry import kernel, raw

Sizes = tuple[int, ...]


@functools.lru_cache(maxsize=512)
def meeting(tap: int, n: int, size: int, stride: int, padding: int, dilation: int) -> tuple[slice, slice]:
    """Where a place of the window meets the input: (outputs, inputs), the outputs that meet padding there left out."""
    offset = tap * dilation - padding
    first = max(0, -(offset // stride))
    last = min(size, (n - 1 - offset) // stride + 1)
    if last <= first:
        return slice(0, 0), slice(0, 0)
    return slice(first, last), slice(first * stride + offset, (last - 1) * stride + offset + 1, stride)


# The largest ---------------------------------------------------------------------------------------------------------


def lowest(x: Any) -> Any:
    """What nothing is smaller than."""
    return -math.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def small_type(count: int) -> Any:
    """The smallest type that can number the places of a window."""
    return np.uint8 if count <= 256 else np.int32


def largest_of(xp: Any, parts: Any, shape: Sizes, first: Any, x: Any) -> tuple[Any, Any]:
    """The largest of the values that meet each output, and the number of the place where it stands (the first such;
    a NaN is larger than everything, and the last one counts). `parts()`: (number, outputs, values) one after the other.
    """
    best = xp.full(shape, lowest(x), x.dtype)
    tap = xp.empty(shape, first.dtype)
    tap[...] = first
    for number, where, values in parts():
        seen, values = best[where], xp.ascontiguousarray(values)  # every second number is read once, not twice
        found = (values > seen).view(xp.uint8)
        xp.maximum(seen, values, out=seen)
        if number:
            place = tap[where]
            xp.maximum(place, found * place.dtype.type(number), out=place)
    if x.dtype.kind == "f" and xp.isnan(best).any():
        for number, where, values in parts():
            place = tap[where]
            xp.maximum(place, xp.isnan(values).view(xp.uint8) * place.dtype.type(number), out=place)
    return best, tap


def max_pool(xp: Any, x: Any, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The largest element of each window, and its place in the input, counted over the pooled dimensions."""
    n = len(ksize)
    lead, size = x.shape[: x.ndim - n], x.shape[x.ndim - n :]

    def parts() -> Any:
        for number, place in enumerate(itertools.product(*map(range, ksize))):
            met = [meeting(*each) for each in zip(place, size, out_size, stride, padding, dilation, strict=True)]
            yield number, (Ellipsis, *[m[0] for m in met]), x[(Ellipsis, *[m[1] for m in met])]

    geometry = _geometry if xp is np else _geometry.__wrapped__
    first, base, offsets = geometry(xp, size, ksize, stride, padding, dilation, out_size)
    best, tap = largest_of(xp, parts, (*lead, *out_size), first, x)
    places = offsets.take(tap)
    places += base
    return best, places


@functools.lru_cache(maxsize=64)
def _geometry(
    xp: Any, size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes
) -> tuple[Any, Any, Any]:
    """Of each window the number of its first place inside, which counts where everything is -inf, and where it begins; then how far from
    there each of its places is."""
    n = len(ksize)
    starts = [xp.arange(o) * s - p for o, s, p in zip(out_size, stride, padding, strict=True)]
    inside = [xp.maximum(-(a // d), 0) for a, d in zip(starts, dilation, strict=True)]
    steps = [math.prod(ksize[i + 1 :]) for i in range(n)]
    first = outer_sum(xp, [a * s for a, s in zip(inside, steps, strict=True)]).astype(small_type(math.prod(ksize)))
    pitch = [math.prod(size[i + 1 :]) for i in range(n)]
    base = outer_sum(xp, [a * s for a, s in zip(starts, pitch, strict=True)])
    offsets = outer_sum(xp, [xp.arange(k) * d * s for k, d, s in zip(ksize, dilation, pitch, strict=True)])
    return first, base, offsets.reshape(-1)


def outer_sum(xp: Any, vectors: list[Any]) -> Any:
    """a[:, None] + b[None, :], for any number of vectors."""
    total = vectors[0]
    for vector in vectors[1:]:
        total = total[..., None] + vector
    return total


def adaptive_bounds(n: int, size: int) -> tuple[Any, Any]:
    """Where each of `size` windows over `n` elements starts and ends."""
    i = np.arange(size)
    return i * n // max(size, 1), -((-(i + 1) * n) // max(size, 1))


def adaptive_max_pool(xp: Any, x: Any, out_size: Sizes) -> Any:
    """The largest element of each of `out_size` windows that cover the input, and its place."""
    n = len(out_size)
    lead, size = x.shape[: x.ndim - n], x.shape[x.ndim - n :]
    if 0 not in out_size and all(m % o == 0 for m, o in zip(size, out_size, strict=True)):
        ksize = tuple(m // o for m, o in zip(size, out_size, strict=True))
        return max_pool(xp, x, ksize, ksize, (0,) * n, (1,) * n, out_size)
    bounds = [adaptive_bounds(m, o) for m, o in zip(size, out_size, strict=True)]
    longest = [int((b - a).max()) if len(a) else 0 for a, b in bounds]

    def at(place: Sizes) -> list[Any]:  # shorter windows see their last element again
        return [xp.asarray(np.minimum(a + t, b - 1)) for t, (a, b) in zip(place, bounds, strict=True)]

    def parts() -> Any:
        for number, place in enumerate(itertools.product(*map(range, longest))):
            yield number, Ellipsis, x[(Ellipsis, *xp.ix_(*at(place)))]

    first = xp.zeros(out_size, small_type(math.prod(longest)))
    best, tap = largest_of(xp, parts, (*lead, *out_size), first, x)
    places = xp.zeros(tap.shape, xp.int64)
    rest = tap.astype(xp.int64)
    for i in range(n):
        step = max(math.prod(longest[i + 1 :]), 1)
        start, end = (xp.asarray(b).reshape(-1, *(1,) * (n - 1 - i)) for b in bounds[i])
        places = places * size[i] + xp.minimum(start + rest // step, end - 1)
        rest %= step
    return best, places


def _both_as_images(pool: Any) -> Any:
    """The places lie as the values do."""

    @functools.wraps(pool)
    def call(xp: Any, x: Any, *args: Any) -> Any:
        best, places = pool(xp, x, *args)
        return (as_image(best, x), as_image(places, x)) if type(x) in ARRAYS else (best, places)

    return call


kernel("max_pool2d")(_both_as_images(max_pool))
kernel("adaptive_max_pool2d")(_both_as_images(adaptive_max_pool))
kernel("adaptive_max_pool3d")(in_rows(adaptive_max_pool))


@kernel("max_pool3d")
def max_pool3d(xp: Any, x: Any, *args: Any) -> Any:
    """The largest element of each window; one volume without a batch keeps the order of its channels, too."""
    if x.ndim == 5 or type(x) not in ARRAYS:
        return _both_as_images(max_pool)(xp, x, *args)
    return tuple([_volume(each, x) for each in max_pool(xp, x, *args)])


def _volume(made: Any, x: Any) -> Any:
    """One volume contiguous, or with its channels last if those of `x` are."""
    if x.flags.c_contiguous or not x.transpose(1, 2, 3, 0).flags.c_contiguous:
        return made
    return made.transpose(1, 2, 3, 0).copy("C").transpose(3, 0, 1, 2)


def _flat_places(xp: Any, places: Any, rows: int, plane: int) -> Any:
    flat = places.reshape(rows, -1)
    if rows > 1:
        flat = flat + (xp.arange(rows) * plane)[:, None]
    return flat.reshape(-1)


@kernel("add_at_places")
def add_at_places(xp: Any, g: Any, places: Any, shape: Sizes, n: int) -> Any:
    """Zeros of a shape, with each element of g added at its place in the last n dimensions."""
    total, plane = math.prod(shape), math.prod(shape[len(shape) - n :])
    if not g.size or not total:
        return xp.zeros(shape, g.dtype)
    flat = _flat_places(xp, places, total // plane, plane)
    made = xp.bincount(flat, weights=g.reshape(-1), minlength=total)
    return laid_as_places(made.astype(g.dtype, copy=False).reshape(shape), places, n)


def laid_as_places(made: Any, places: Any, n: int) -> Any:
    """Images whose places lie with their channels last were so themselves."""
    return as_image(made, places) if made.ndim == n + 2 else made


@kernel("max_pool_backward")
def max_pool_backward(xp: Any, g: Any, places: Any, shape: Sizes, n: int, windows: Any) -> Any:
    """Each gradient at the place of its window's largest element. (`windows` says who can have looked at a place.)"""
    return raw.add_at_places(g, places, shape, n)


@kernel("take_at_places")
def take_at_places(xp: Any, x: Any, places: Any, n: int) -> Any:
    """The element at each place, counted over the last n dimensions."""
    if not places.size:
        return xp.zeros(places.shape, x.dtype)
    plane = math.prod(x.shape[x.ndim - n :])
    return x.reshape(-1)[_flat_places(xp, places, x.size // plane, plane)].reshape(places.shape)


def max_unpool(xp: Any, x: Any, places: Any, out_size: Sizes) -> Any:
    """Zeros, with each element of x put at its place."""
    n = len(out_size)
    lead, plane = x.shape[: x.ndim - n], math.prod(out_size)
    out = xp.zeros((math.prod(lead) * plane,), x.dtype)
    if x.size:
        out[_flat_places(xp, places, math.prod(lead), plane)] = x.reshape(-1)
    return out.reshape(*lead, *out_size)


for _n in (2, 3):
    kernel(f"max_unpool{_n}d")(as_images(max_unpool))


# Means ---------------------------------------------------------------------------------------------------------------


def sum_along(xp: Any, x: Any, axis: int, k: int, stride: int, padding: int, size: int) -> Any:
    """Sums of windows along one dimension."""
    n = x.shape[axis]
    out = xp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    lead = (slice(None),) * axis
    for tap in range(k):
        where, seen = meeting(tap, n, size, stride, padding, 1)
        out[(*lead, where)] += x[(*lead, seen)]
    return out


def spread_along(xp: Any, g: Any, axis: int, k: int, stride: int, padding: int, n: int) -> Any:
    """The transposed form: each element added to all of its window."""
    out = xp.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), g.dtype)
    lead = (slice(None),) * axis
    for tap in range(k):
        where, seen = meeting(tap, n, g.shape[axis], stride, padding, 1)
        out[(*lead, seen)] += g[(*lead, where)]
    return out


@functools.lru_cache(maxsize=256)
def _counts(n: int, k: int, stride: int, padding: int, size: int, with_padding: bool) -> Any:
    start = np.arange(size) * stride - padding
    end = np.minimum(start + k, n + padding)
    return end - start if with_padding else np.minimum(end, n) - np.maximum(start, 0)


def divisors(
    xp: Any, in_size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, out_size: Sizes, with_padding: bool, kind: Any
) -> Any:
    """How many elements each window has."""
    if out_size and not any(padding) and all(
        (o - 1) * s + k <= n for o, s, k, n in zip(out_size, stride, ksize, in_size, strict=True)
    ):  # fmt: skip
        return xp.asarray(math.prod(ksize), kind)
    total = xp.ones((), kind)
    for each in zip(in_size, ksize, stride, padding, out_size, strict=True):
        total = total[..., None] * xp.asarray(_counts(*each, with_padding), kind)
    return total


def avg_pool(
    xp: Any,
    x: Any,
    ksize: Sizes,
    stride: Sizes,
    padding: Sizes,
    out_size: Sizes,
    with_padding: bool,
    divisor: int | None,
) -> Any:
    """The sum of each window over its size: one dimension after the other."""
    first = x.ndim - len(ksize)
    in_size, kind = x.shape[first:], x.dtype
    for i in range(len(ksize)):
        x = sum_along(xp, x, first + i, ksize[i], stride[i], padding[i], out_size[i])
    if divisor is None:
        by = divisors(xp, in_size, ksize, stride, padding, out_size, with_padding, kind)
    else:
        by = xp.asarray(divisor, kind)
    return xp.trunc(x / by).astype(kind) if kind.kind in "iu" else xp.divide(x, by, out=x)


def avg_pool_backward(
    xp: Any,
    g: Any,
    in_size: Sizes,
    ksize: Sizes,
    stride: Sizes,
    padding: Sizes,
    with_padding: bool,
    divisor: int | None,
) -> Any:
    """Each gradient over the size of its window, added to all of it."""
    first = g.ndim - len(ksize)
    if divisor is None:
        g = g / divisors(xp, in_size, ksize, stride, padding, g.shape[first:], with_padding, g.dtype)
    else:
        g = g / xp.asarray(divisor, g.dtype)
    for i in reversed(range(len(ksize))):
        g = spread_along(xp, g, first + i, ksize[i], stride[i], padding[i], in_size[i])
    return g


kernel("avg_pool2d")(as_images(avg_pool))
kernel("avg_pool3d")(in_rows(avg_pool))
kernel("avg_pool_backward")(as_images(avg_pool_backward))

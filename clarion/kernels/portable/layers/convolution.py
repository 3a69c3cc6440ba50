"""Convolution: windows of the input as the columns of a matrix (im2col), and one product per group.

The three kernels are the three derivatives of one trilinear form, sum(g * correlate(x, weight)): with respect to g the
forward pass (`correlate`), to x the transposed convolution (`correlate_input`), to the weight its gradient
(`correlate_weight`). Each one's derivatives are the other two, so that second derivatives need nothing new.

Batches are cut into blocks, whose columns fit into the last cache. All three take spatial sizes of any number of dimensions:
x is (N, C, *S), weight (O, C / groups, *K), g (N, O, *L).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...everywhere import dots
from ...layout import as_images, laid_as
from ...registry import kernel

Sizes = tuple[int, ...]

COLUMNS = 1 << 20  # elements of the columns of one block: the last cache has room for them


def windows(xp: Any, x: Any, ksize: Sizes, stride: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """(A, B, *S) seen as (A, *K, B, *L): every window, nothing copied."""
    first, second, *steps = x.strides
    shape = (x.shape[0], *ksize, x.shape[1], *out_size)
    inside = tuple(d * s for d, s in zip(dilation, steps, strict=True))
    across = tuple(n * s for n, s in zip(stride, steps, strict=True))
    if xp is np and x.flags.c_contiguous and x.dtype.char in "fdFD":  # the same, ten times as fast
        return np.ndarray(shape, x.dtype, x, 0, (first, *inside, second, *across))
    return xp.lib.stride_tricks.as_strided(x, shape, (first, *inside, second, *across))


@functools.lru_cache(maxsize=256)
def taps(ksize: Sizes, stride: Sizes, dilation: Sizes, out_size: Sizes) -> list[tuple[Sizes, tuple[slice, ...]]]:
    """Each place in a kernel, and what it meets in the padded input, one slice per dimension."""
    found = []
    for place in itertools.product(*map(range, ksize)):
        start = [k * d for k, d in zip(place, dilation, strict=True)]
        seen = tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in zip(start, out_size, stride, strict=True))
        found.append((place, seen))
    return found


def inner(sizes: Sizes, padding: Sizes) -> tuple[Any, ...]:
    """Where the input lies in the padded one, (A, B, *S)."""
    return (Ellipsis, *[slice(p, p + n) for n, p in zip(sizes, padding, strict=True)])


def blocks(n: int, columns: int) -> Iterator[slice]:
    """The batch in parts whose columns, `columns` per image, fit into the cache."""
    step = max(1, COLUMNS // max(columns, 1))
    return (slice(i, min(i + step, n)) for i in range(0, n, step))


def channels_first(x: Any) -> Any:
    """(N, C, *S) as (C, N, *S)."""
    return x.swapaxes(0, 1)


class Columns:
    """The columns of one block of images after the other: (groups, C / groups * K, images * L), in one buffer."""

    def __init__(self, xp: Any, x: Any, ksize: Sizes, padding: Sizes, groups: int, out_size: Sizes) -> None:
        self.xp, self.x, self.groups, self.size = xp, x, groups, out_size
        self.ksize, self.inner = ksize, inner(x.shape[2:], padding)
        self.padded = tuple(n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True))
        self.bordered = any(padding)
        self.room: Any = None
        self.border: Any = None

    def of(self, block: slice, stride: Sizes, dilation: Sizes) -> Any:
        x = channels_first(self.x[block])
        if self.bordered:
            if self.border is None or self.border.shape[1] != x.shape[1]:
                self.border = self.xp.zeros((*x.shape[:2], *self.padded), x.dtype)
            self.border[self.inner] = x
            x = self.border
        seen = windows(self.xp, x, self.ksize, stride, dilation, self.size)
        if self.room is None or self.room.shape != seen.shape:
            self.room = self.xp.empty(seen.shape, x.dtype)
        self.room[...] = seen
        return self.room.reshape(self.groups, -1, x.shape[1] * math.prod(self.size))


def by_group(weight: Any, groups: int) -> Any:
    """(O, C / groups, *K) as matrices: (groups, O / groups, C / groups * K)."""
    return weight.reshape(groups, weight.shape[0] // groups, math.prod(weight.shape[1:]))


def grouped_rows(g: Any, groups: int) -> Any:
    """(N, O, *L) as matrices: (groups, O / groups, N * L)."""
    n, o, *size = g.shape
    if n == 1:
        return g.reshape(groups, o // groups, math.prod(size))
    return channels_first(g).reshape(groups, o // groups, n * math.prod(size))


def is_pointwise(ksize: Sizes, stride: Sizes, padding: Sizes) -> bool:
    """1 × 1: products of matrices as they lie."""
    return math.prod(ksize) == 1 and max(stride) == 1 and max(padding) == 0


def is_depthwise(weight_shape: Sizes, groups: int) -> bool:
    """One channel per group: a product of matrices would have one row."""
    return groups > 1 and weight_shape[1] == 1


@kernel("correlate")
@as_images
def correlate(xp: Any, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    """The convolution of x, without bias."""
    ksize, n, o = weight.shape[2:], x.shape[0], weight.shape[0]
    size = tuple(
        (s + 2 * p - d * (k - 1) - 1) // t + 1
        for s, p, d, k, t in zip(x.shape[2:], padding, dilation, ksize, stride, strict=True)
    )
    if not n or not o or 0 in size or 0 in x.shape or 0 in weight.shape:
        return xp.zeros((n, o, *size), x.dtype)
    if is_pointwise(ksize, stride, padding):
        rows = x.reshape(n, groups, x.shape[1] // groups, math.prod(size))
        return (by_group(weight, groups) @ rows).reshape(n, o, *size)
    if is_depthwise(weight.shape, groups):
        return depthwise(xp, x, weight, stride, padding, dilation, size)
    out = xp.empty((n, o, *size), x.dtype)
    copied = math.prod((x.shape[1], *ksize, *size))
    together = blocks(n, copied)
    if has_short_rows(n, size, copied, o, stride):
        for block in together:
            made = correlate(
                xp, batch_last(x[block]), weight[..., None], *with_batch(stride, padding, dilation), groups
            )
            out[block] = batch_first(made)
        return out
    columns = Columns(xp, x, ksize, padding, groups, size)
    matrices = by_group(weight, groups)
    for block in together:
        made = matrices @ columns.of(block, stride, dilation)
        out[block] = channels_first(made.reshape(o, -1, *size))
    return out


@kernel("correlate_input")
@as_images
def correlate_input(
    xp: Any, g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    """What each place of an input of size `in_size` gets from g: the transposed convolution."""
    n, c, ksize, size = g.shape[0], weight.shape[1] * groups, weight.shape[2:], g.shape[2:]
    if not n or not c or 0 in in_size or 0 in g.shape or 0 in weight.shape:
        return xp.zeros((n, c, *in_size), g.dtype)
    g = xp.ascontiguousarray(g)  # a gradient may be one number, broadcast: no array for BLAS
    if is_pointwise(ksize, stride, padding) and tuple(in_size) == tuple(size):
        rows = g.reshape(n, groups, g.shape[1] // groups, math.prod(size))
        return (by_group(weight, groups).swapaxes(-1, -2) @ rows).reshape(n, c, *in_size)
    if is_depthwise(weight.shape, groups):
        return depthwise_input(xp, g, weight, stride, padding, dilation, groups, in_size)
    padded = tuple(m + 2 * p for m, p in zip(in_size, padding, strict=True))
    if lies_flat(size, padded, stride):
        return flat_input(xp, g, weight, padding, dilation, groups, in_size, padded)
    out = xp.empty((n, c, *in_size), g.dtype)
    copied = math.prod((c, *ksize, *size))
    together = blocks(n, copied)
    if has_short_rows(n, size, copied, g.shape[1], stride):
        for block in together:
            seen, sizes = batch_last(g[block]), with_batch(stride, padding, dilation)
            made = correlate_input(xp, seen, weight[..., None], *sizes, groups, (*in_size, seen.shape[-1]))
            out[block] = batch_first(made)
        return out
    matrices = by_group(weight, groups).swapaxes(-1, -2)
    whole = inner(in_size, padding)
    columns = room = None
    for block in together:
        count = block.stop - block.start
        if room is None or room.shape[1] != count:  # the last block may be smaller
            columns = xp.empty((groups, matrices.shape[1], count * math.prod(size)), g.dtype)
            room = xp.empty((c, count, *padded), g.dtype)
        xp.matmul(matrices, grouped_rows(g[block], groups), out=columns)
        parts = columns.reshape(c, *ksize, count, *size)
        room.fill(0)
        for place, seen in taps(ksize, stride, dilation, size):
            room[(slice(None), slice(None), *seen)] += parts[(slice(None), *place)]
        out[block] = channels_first(room[whole])
    return out


@kernel("correlate_weight")
def correlate_weight(
    xp: Any, g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes
) -> Any:
    """The gradient of the weight: (O, C / groups, *ksize)."""
    n, o, c, size = x.shape[0], g.shape[1], x.shape[1], g.shape[2:]
    shape = (o, c // groups, *ksize)
    if 0 in g.shape or 0 in x.shape or 0 in shape:
        return xp.zeros(shape, x.dtype)
    g = xp.ascontiguousarray(g)
    if is_depthwise(shape, groups):
        return depthwise_weight(xp, g, x, stride, padding, dilation, ksize)
    total = xp.zeros((groups, o // groups, c // groups * math.prod(ksize)), x.dtype)
    if is_pointwise(ksize, stride, padding) and n <= 16:
        left = g.reshape(n, groups, o // groups, -1)
        for i in range(n):
            total += left[i] @ x[i].reshape(groups, c // groups, -1).swapaxes(-1, -2)
        return total.reshape(shape)
    padded = tuple(m + 2 * p for m, p in zip(x.shape[2:], padding, strict=True))
    if lies_flat(size, padded, stride):
        return flat_weight(xp, g, x, padding, dilation, groups, ksize, padded)
    copied = math.prod((c, *ksize, *size))
    together = blocks(n, copied)
    if has_short_rows(n, size, copied, o, stride):
        for block in together:
            seen, sizes = (batch_last(g[block]), batch_last(x[block])), with_batch(stride, padding, dilation)
            total += correlate_weight(xp, *seen, *sizes, groups, (*ksize, 1)).reshape(total.shape)
        return total.reshape(shape)
    columns = Columns(xp, x, ksize, padding, groups, size)
    for block in together:
        total += grouped_rows(g[block], groups) @ columns.of(block, stride, dilation).swapaxes(-1, -2)
    return total.reshape(shape)


# Small images: their rows are short, and to copy many short rows takes long. With the batch as the last dimension a row of all images
# is one long row; the kernel is one image wide there.

SHORT = 16  # elements of a row


def has_short_rows(n: int, size: Sizes, columns: int, o: int, stride: Sizes) -> bool:
    """Are there several images whose rows are worth joining? (The outputs are turned for it: there must be more to copy than those.)"""
    return n > 3 and size[-1] <= SHORT and stride[-1] == 1 and columns >= 4 * o * math.prod(size)


def batch_last(x: Any) -> Any:
    """(N, C, *S) seen as (1, C, *S, N)."""
    return x.transpose(*range(1, x.ndim), 0)[None]


def batch_first(x: Any) -> Any:
    """(1, C, *S, N) seen as (N, C, *S)."""
    return x[0].transpose(x.ndim - 2, *range(x.ndim - 2))


def with_batch(stride: Sizes, padding: Sizes, dilation: Sizes) -> tuple[Sizes, Sizes, Sizes]:
    """The same geometry with the batch as the last dimension."""
    return (*stride, 1), (*padding, 0), (*dilation, 1)


# Stride 1 on large images: with the padded image as one long row, what a place of the kernel meets is that row, shifted.
# Gradients become one product per place, without columns; the price is to compute the border, too.


def lies_flat(size: Sizes, padded: Sizes, stride: Sizes) -> bool:
    """Is the border worth computing?"""
    return max(stride) == 1 and 4 * math.prod(padded) <= 5 * math.prod(size)


def shifts(ksize: Sizes, dilation: Sizes, padded: Sizes) -> list[int]:
    """How far along the row each place of the kernel looks."""
    pitch = [math.prod(padded[i + 1 :]) for i in range(len(padded))]
    return [
        sum(k * d * p for k, d, p in zip(place, dilation, pitch, strict=True))
        for place in itertools.product(*map(range, ksize))
    ]


def flat_rows(xp: Any, x: Any, groups: int, padded: Sizes, start: Sizes) -> Any:
    """(N, C, *S) inside of zeros, as (groups, C / groups, N * padded)."""
    n, c = x.shape[:2]
    out = xp.zeros((c, n, *padded), x.dtype)
    out[inner(x.shape[2:], start)] = channels_first(x)
    return out.reshape(groups, c // groups, n * math.prod(padded))


def flat_input(
    xp: Any, g: Any, weight: Any, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes, padded: Sizes
) -> Any:
    n, c, ksize = g.shape[0], weight.shape[1] * groups, weight.shape[2:]
    places = weight.reshape(groups, weight.shape[0] // groups, c // groups, math.prod(ksize))
    places = xp.ascontiguousarray(places.transpose(3, 0, 2, 1))  # K groups C O
    out = xp.empty((n, c, *in_size), g.dtype)
    for block in blocks(n, 4 * max(c, g.shape[1]) * math.prod(padded)):
        rows = flat_rows(xp, g[block], groups, padded, (0,) * len(padded))
        total = xp.zeros((groups, c // groups, rows.shape[2]), g.dtype)
        part = xp.empty(total.shape, g.dtype)
        for matrices, shift in zip(places, shifts(ksize, dilation, padded), strict=True):
            xp.matmul(matrices, rows, out=part)
            total[..., shift:] += part[..., : rows.shape[2] - shift]
        out[block] = channels_first(total.reshape(c, -1, *padded)[inner(in_size, padding)])
    return out


def flat_weight(
    xp: Any, g: Any, x: Any, padding: Sizes, dilation: Sizes, groups: int, ksize: Sizes, padded: Sizes
) -> Any:
    n, c, o = x.shape[0], x.shape[1], g.shape[1]
    total = xp.zeros((math.prod(ksize), groups, o // groups, c // groups), x.dtype)
    for block in blocks(n, 4 * max(c, o) * math.prod(padded)):
        left = flat_rows(xp, g[block], groups, padded, (0,) * len(padded))
        right = flat_rows(xp, x[block], groups, padded, padding).swapaxes(1, 2)
        for i, shift in enumerate(shifts(ksize, dilation, padded)):
            total[i] += left[..., : left.shape[2] - shift] @ right[:, shift:]
    return total.transpose(1, 2, 3, 0).reshape(o, c // groups, *ksize)


# One channel per group: a sum over the places of the kernel, each a product of whole images ------------------------


def with_border(xp: Any, x: Any, padding: Sizes) -> Any:
    """x inside of zeros."""
    if not any(padding):
        return x
    out = xp.zeros((*x.shape[:2], *[n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]), x.dtype)
    out[inner(x.shape[2:], padding)] = x
    return out


def depthwise_steps(
    ksize: Sizes, stride: Sizes, dilation: Sizes, size: Sizes, padded: Sizes
) -> tuple[list[tuple[slice, ...]], Sizes, Sizes]:
    """What each place of the kernel meets in the padded image, how large the image is, and how large the result.

    Where the image is one long row, the result is as long as the padded image, less the last shift.
    """
    if not lies_flat(size, padded, stride):
        return [seen for _, seen in taps(ksize, stride, dilation, size)], padded, size
    moves = shifts(ksize, dilation, padded)
    length = math.prod(padded) - moves[-1]
    return [(slice(shift, shift + length),) for shift in moves], (math.prod(padded),), (length,)


def widened(xp: Any, g: Any, size: Sizes, padded: Sizes, extent: Sizes) -> Any:
    """(N, C, m, *size) as the result of `depthwise_steps`: with zeros where a long row has its border."""
    if extent == size:
        return g
    out = xp.zeros((*g.shape[:3], *padded), g.dtype)
    out[inner(size, (0,) * len(size))] = g
    return out.reshape(*g.shape[:3], math.prod(padded))[..., : extent[0]]


def depthwise(
    xp: Any, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes
) -> Any:  # (N, C, *S), (C * m, 1, *K)
    n, c = x.shape[:2]
    many, ksize = weight.shape[0] // c, weight.shape[2:]
    x = with_border(xp, x, padding)
    padded = x.shape[2:]
    steps, image, extent = depthwise_steps(ksize, stride, dilation, size, padded)
    x = x.reshape(n, c, 1, *image)
    factors = weight.reshape(c, many, len(steps), *(1,) * len(image))
    flat = extent != size
    out = xp.empty((n, c, many, *(image if flat else size)), x.dtype)
    room = None
    for block in blocks(n, 8 * math.prod(out.shape[1:])):
        part, seen_block = out[block][..., : extent[0]] if flat else out[block], x[block]
        room = xp.empty(part.shape, x.dtype) if room is None or room.shape != part.shape else room
        for i, seen in enumerate(steps):
            xp.multiply(seen_block[(Ellipsis, *seen)], factors[:, :, i], out=room if i else part)
            if i:
                part += room
    if flat:
        out = xp.ascontiguousarray(out.reshape(n, c, many, *padded)[inner(size, (0,) * len(size))])
    return out.reshape(n, c * many, *size)


def depthwise_input(
    xp: Any, g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, in_size: Sizes
) -> Any:
    n, ksize, size = g.shape[0], weight.shape[2:], g.shape[2:]
    padded = tuple(m + 2 * p for m, p in zip(in_size, padding, strict=True))
    many = weight.shape[0] // groups
    steps, image, extent = depthwise_steps(ksize, stride, dilation, size, padded)
    factors = weight.reshape(groups, many, len(steps), *(1,) * len(image))
    g = widened(xp, g.reshape(n, groups, many, *size), size, padded, extent)
    out = xp.zeros((n, groups, *image), g.dtype)
    room = None
    for block in blocks(n, 8 * math.prod(out.shape[1:])):
        part, upstream = out[block], g[block]
        room = xp.empty(upstream.shape, g.dtype) if room is None or room.shape != upstream.shape else room
        for i, seen in enumerate(steps):
            xp.multiply(upstream, factors[:, :, i], out=room)
            part[(Ellipsis, *seen)] += room[:, :, 0] if many == 1 else room.sum(axis=2)
    return xp.ascontiguousarray(out.reshape(n, groups, *padded)[inner(in_size, padding)])


def depthwise_weight(xp: Any, g: Any, x: Any, stride: Sizes, padding: Sizes, dilation: Sizes, ksize: Sizes) -> Any:
    n, c = x.shape[:2]
    many, size = g.shape[1] // c, g.shape[2:]
    x = with_border(xp, x, padding)
    steps, image, extent = depthwise_steps(ksize, stride, dilation, size, x.shape[2:])
    g = widened(xp, g.reshape(n, c, many, *size), size, x.shape[2:], extent)
    x = x.reshape(n, c, 1, *image)
    length = math.prod(extent)
    out = xp.zeros((c, many, len(steps)), x.dtype)
    for block in blocks(n, 8 * c * many * length):
        seen_block = x[block]
        upstream = g[block].conj().reshape(-1, c, many, length)  # dots conjugates it back
        for i, seen in enumerate(steps):
            rows = seen_block[(Ellipsis, *seen)].reshape(-1, c, 1, length)
            out[:, :, i] += dots(xp, upstream, rows).sum(axis=0)
    return out.reshape(c * many, 1, *ksize)


@as_images
def _convolution(
    xp: Any,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Any:
    """What PyTorch's convolutions compute; for the transposed one `weight` is (C, O / groups, *K)."""
    if transposed:
        out = correlate_input(
            xp, x, weight, stride, padding, dilation, groups,
            transposed_size(x.shape[2:], weight.shape[2:], stride, padding, dilation, output_padding),
        )  # fmt: skip
    else:
        out = correlate(xp, x, weight, stride, padding, dilation, groups)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return out


@kernel("convolution")
def convolution(xp: Any, x: Any, weight: Any, *rest: Any) -> Any:
    """What PyTorch's convolutions compute; weights with their channels last make images lie so, too."""
    return _convolution(xp, laid_as(x, weight), weight, *rest)


def transposed_size(
    size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes
) -> Sizes:
    """The size of a transposed convolution's result."""
    return tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + extra + 1
        for n, k, s, p, d, extra in zip(size, ksize, stride, padding, dilation, output_padding, strict=True)
    )

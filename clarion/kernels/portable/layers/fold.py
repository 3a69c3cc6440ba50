"""Windows as columns and back; pixels to channels and back."""

from __future__ import annotations

import math
from typing import Any

from ...layout import apart, as_images
from ...registry import kernel
from .convolution import inner, taps, windows, with_border

Sizes = tuple[int, ...]


def blocks_of(size: Sizes, ksize: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Sizes:
    """How many windows fit in each dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, d, p, s in zip(size, ksize, dilation, padding, stride, strict=True)
    )


@kernel("im2col")
@apart
def im2col(xp: Any, x: Any, ksize: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """(…, C, H, W) as (…, C * K, L): each window a column."""
    *lead, c = x.shape[:-2]
    size = blocks_of(x.shape[-2:], ksize, dilation, padding, stride)
    images = with_border(xp, x.reshape(math.prod((*lead, c)), 1, *x.shape[-2:]), padding)
    seen = windows(xp, images, ksize, stride, dilation, size)
    return seen.reshape(*lead, c * math.prod(ksize), math.prod(size))


@kernel("col2im")
def col2im(xp: Any, x: Any, out_size: Sizes, ksize: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Any:
    """The transposed form: every column added where its window was."""
    *lead, rows, _ = x.shape
    c = rows // math.prod(ksize)
    size = blocks_of(out_size, ksize, dilation, padding, stride)
    columns = x.reshape(*lead, c, *ksize, *size)
    every = (slice(None),) * (len(lead) + 1)
    room = xp.zeros((*lead, c, *[n + 2 * p for n, p in zip(out_size, padding, strict=True)]), x.dtype)
    for place, seen in taps(ksize, stride, dilation, size):
        room[(*every, *seen)] += columns[(*every, *place)]
    return xp.ascontiguousarray(room[inner(out_size, padding)])


@kernel("pixel_shuffle")
@as_images
@apart
def pixel_shuffle(xp: Any, x: Any, factor: int) -> Any:
    """(…, C * r * r, H, W) as (…, C, H * r, W * r)."""
    *lead, c, h, w = x.shape
    c //= factor * factor
    n = len(lead)
    parts = x.reshape(*lead, c, factor, factor, h, w)
    return parts.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2).reshape(*lead, c, h * factor, w * factor)


@kernel("pixel_unshuffle")
@as_images
@apart
def pixel_unshuffle(xp: Any, x: Any, factor: int) -> Any:
    """(…, C, H * r, W * r) as (…, C * r * r, H, W)."""
    *lead, c, h, w = x.shape
    h, w, n = h // factor, w // factor, len(lead)
    parts = x.reshape(*lead, c, h, factor, w, factor)
    return parts.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*lead, c * factor * factor, h, w)


@kernel("channel_shuffle")
@as_images
@apart
def channel_shuffle(xp: Any, x: Any, groups: int) -> Any:
    """Channels dealt out in turn to the groups."""
    n, c, *size = x.shape
    return x.reshape(n, groups, c // groups, *size).swapaxes(1, 2).reshape(x.shape)

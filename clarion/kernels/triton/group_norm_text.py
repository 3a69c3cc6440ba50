"""Group normalization: the texts of the kernels. An image has C channels of `size` places; those of a group are a row.

The channels of an image have planes of their own, or (LAST) lie side by side. Everything is computed in float32 (float64 for float64).
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _elements(at, row, groups, channels, size, LAST: tl.constexpr):
    """Of elements of a row: where they lie, and the channels that they belong to."""
    width = channels // groups
    image, group = row // groups, row % groups
    if LAST:
        channel = group * width + at % width
        place = image.to(tl.int64) * channels * size + at // width * channels + channel
    else:
        channel = group * width + at // size
        place = row.to(tl.int64) * width * size + at
    return place, channel


@triton.jit
def group_norm(
    x, weight, bias, out, mean, rstd, groups, channels, size, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr, LAST: tl.constexpr,
    WHOLE: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """One group of one image. WHOLE: it fits into a block, and is read once."""
    row = tl.program_id(0)
    n = channels // groups * size
    kind = rstd.dtype.element_ty
    at = tl.arange(0, B)
    place, channel = _elements(at, row, groups, channels, size, LAST)
    a = tl.load(x + place, mask=at < n, other=0.0).to(kind)
    total = tl.zeros([B], kind) + a
    if not WHOLE:
        for start in range(B, n, B):
            place, channel = _elements(start + at, row, groups, channels, size, LAST)
            total += tl.load(x + place, mask=start + at < n, other=0.0).to(kind)
    middle = tl.sum(total, 0) / n
    a = tl.where(at < n, a - middle, 0.0)
    squares = a * a
    if not WHOLE:
        for start in range(B, n, B):
            place, channel = _elements(start + at, row, groups, channels, size, LAST)
            b = tl.load(x + place, mask=start + at < n, other=0.0).to(kind)
            b = tl.where(start + at < n, b - middle, 0.0)
            squares += b * b
    scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / n + eps)
    tl.store(mean + row, middle)
    tl.store(rstd + row, scale)
    for start in range(0, n, B):
        place, channel = _elements(start + at, row, groups, channels, size, LAST)
        inside = start + at < n
        if not WHOLE:
            a = tl.load(x + place, mask=inside, other=0.0).to(kind) - middle
        b = a * scale
        if WEIGHT:
            b = b * tl.load(weight + channel, mask=inside, other=0.0).to(kind)
        if BIAS:
            b = b + tl.load(bias + channel, mask=inside, other=0.0).to(kind)
        tl.store(out + place, b.to(out.dtype.element_ty), mask=inside)


@triton.jit
def channel_sums(
    g, x, mean, rstd, shares, groups, channels, size, LAST: tl.constexpr, C: tl.constexpr, S: tl.constexpr
):
    """Of some channels of one image: the sum of the gradient times the normalized input, and that of the gradient."""
    image = tl.program_id(0)
    c = tl.program_id(1) * C + tl.arange(0, C)
    there = c < channels
    kind = shares.dtype.element_ty
    group = image * groups + c // (channels // groups)
    middle = tl.load(mean + group, mask=there, other=0.0)
    scale = tl.load(rstd + group, mask=there, other=0.0)
    a = tl.zeros([C, S], kind)
    b = tl.zeros([C, S], kind)
    begin = image.to(tl.int64) * channels * size
    for start in range(0, size, S):
        s = start + tl.arange(0, S)
        inside = there[:, None] & (s < size)[None, :]
        if LAST:
            place = begin + s[None, :] * channels + c[:, None]
        else:
            place = begin + c[:, None] * size + s[None, :]
        up = tl.load(g + place, mask=inside, other=0.0).to(kind)
        normal = (tl.load(x + place, mask=inside, other=0.0).to(kind) - middle[:, None]) * scale[:, None]
        a += tl.where(inside, up * normal, 0.0)
        b += up
    at = image * channels + c
    tl.store(shares + at, tl.sum(a, 1), mask=there)
    tl.store(shares + tl.num_programs(0) * channels + at, tl.sum(b, 1), mask=there)


@triton.jit
def group_norm_backward(
    g, x, weight, mean, rstd, shares, out, images, groups, channels, size, WEIGHT: tl.constexpr, LAST: tl.constexpr, W: tl.constexpr,
    B: tl.constexpr,
):  # fmt: skip
    """The gradient of the input, of a part of one group of one image, from the sums of its channels."""
    row = tl.program_id(0)
    width = channels // groups
    n = width * size
    kind = rstd.dtype.element_ty
    k = tl.arange(0, W)
    w = tl.full([W], 1.0, kind)
    if WEIGHT:
        w = tl.load(weight + row % groups * width + k, mask=k < width, other=0.0).to(kind)
    first = row * width + k
    along = tl.sum(w * tl.load(shares + first, mask=k < width, other=0.0), 0) / n
    total = tl.sum(w * tl.load(shares + images * channels + first, mask=k < width, other=0.0), 0) / n
    middle = tl.load(mean + row)
    scale = tl.load(rstd + row)
    at = tl.program_id(1) * B + tl.arange(0, B)
    place, channel = _elements(at, row, groups, channels, size, LAST)
    inside = at < n
    up = tl.load(g + place, mask=inside, other=0.0).to(kind)
    normal = (tl.load(x + place, mask=inside, other=0.0).to(kind) - middle) * scale
    if WEIGHT:
        up = up * tl.load(weight + channel, mask=inside, other=0.0).to(kind)
    up = (up - total - normal * along) * scale
    tl.store(out + place, up.to(out.dtype.element_ty), mask=inside)

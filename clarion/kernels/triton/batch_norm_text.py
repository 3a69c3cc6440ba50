"""Batch normalization of images whose channels lie side by side: the texts. Such a batch is a matrix of places and channels.

Sums run over the places, so each program sums a share of them for a block of channels, and `statistics` or `sums` adds the shares.
Everything is computed in float32 and rounded once.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def shares(x, share, rows, channels, per, R: tl.constexpr, C: tl.constexpr):
    """This program's share of the sums of x and of its square, both counted from the first place of each channel."""
    program = tl.program_id(0)
    c = tl.program_id(1) * C + tl.arange(0, C)
    known = c < channels
    origin = tl.load(x + c, mask=known, other=0.0).to(tl.float32)
    once = tl.zeros([R, C], tl.float32)
    twice = tl.zeros([R, C], tl.float32)
    first = program.to(tl.int64) * per
    last = tl.minimum(first + per, rows)
    for start in range(first, last, R):
        r = start + tl.arange(0, R)
        inside = (r < last)[:, None] & known[None, :]
        a = tl.load(x + r[:, None] * channels + c[None, :], mask=inside, other=0.0).to(tl.float32)
        a = tl.where(inside, a - origin[None, :], 0.0)
        once += a
        twice += a * a
    tl.store(share + (program * 2) * channels + c, tl.sum(once, 0), mask=known)
    tl.store(share + (program * 2 + 1) * channels + c, tl.sum(twice, 0), mask=known)


@triton.jit
def statistics(x, share, mean, rstd, count, rows, channels, eps, P: tl.constexpr, C: tl.constexpr):
    """Mean and 1 / standard deviation of a block of channels, from `count` shares."""
    c = tl.program_id(0) * C + tl.arange(0, C)
    known = c < channels
    once = tl.zeros([P, C], tl.float32)
    twice = tl.zeros([P, C], tl.float32)
    for start in range(0, count, P):
        p = start + tl.arange(0, P)
        inside = (p < count)[:, None] & known[None, :]
        at = share + (p[:, None] * 2) * channels + c[None, :]
        once += tl.load(at, mask=inside, other=0.0)
        twice += tl.load(at + channels, mask=inside, other=0.0)
    off = tl.sum(once, 0) / rows
    var = tl.maximum(tl.sum(twice, 0) / rows - off * off, 0.0)
    tl.store(mean + c, tl.load(x + c, mask=known, other=0.0).to(tl.float32) + off, mask=known)
    tl.store(rstd + c, 1.0 / tl.sqrt(var + eps), mask=known)


@triton.jit
def normalize(
    x, weight, bias, mean, rstd, out, rows, channels, WEIGHT: tl.constexpr, BIAS: tl.constexpr, R: tl.constexpr, C: tl.constexpr
):  # fmt: skip
    """A tile of the result."""
    r = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    known = c < channels
    inside = (r < rows)[:, None] & known[None, :]
    scale = tl.load(rstd + c, mask=known, other=0.0)
    if WEIGHT:
        scale = scale * tl.load(weight + c, mask=known, other=0.0).to(tl.float32)
    shift = -tl.load(mean + c, mask=known, other=0.0) * scale
    if BIAS:
        shift = shift + tl.load(bias + c, mask=known, other=0.0).to(tl.float32)
    at = r[:, None] * channels + c[None, :]
    a = tl.load(x + at, mask=inside, other=0.0).to(tl.float32) * scale[None, :] + shift[None, :]
    tl.store(out + at, a.to(out.dtype.element_ty), mask=inside)


@triton.jit
def gradient_shares(g, x, mean, rstd, share, rows, channels, per, R: tl.constexpr, C: tl.constexpr):
    """This program's share of the sums of g and of g times the normalized x."""
    program = tl.program_id(0)
    c = tl.program_id(1) * C + tl.arange(0, C)
    known = c < channels
    center = tl.load(mean + c, mask=known, other=0.0)
    plain = tl.zeros([R, C], tl.float32)
    along = tl.zeros([R, C], tl.float32)
    first = program.to(tl.int64) * per
    last = tl.minimum(first + per, rows)
    for start in range(first, last, R):
        r = start + tl.arange(0, R)
        inside = (r < last)[:, None] & known[None, :]
        at = r[:, None] * channels + c[None, :]
        b = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
        a = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        plain += b
        along += b * (a - center[None, :])
    tl.store(share + (program * 2) * channels + c, tl.sum(plain, 0), mask=known)
    scale = tl.load(rstd + c, mask=known, other=0.0)
    tl.store(share + (program * 2 + 1) * channels + c, tl.sum(along, 0) * scale, mask=known)


@triton.jit
def sums(share, plain_sum, along_sum, count, channels, P: tl.constexpr, C: tl.constexpr):
    """The two sums of a block of channels, from `count` shares: those of g, then those of g times the normalized x."""
    c = tl.program_id(0) * C + tl.arange(0, C)
    known = c < channels
    plain = tl.zeros([P, C], tl.float32)
    along = tl.zeros([P, C], tl.float32)
    for start in range(0, count, P):
        p = start + tl.arange(0, P)
        inside = (p < count)[:, None] & known[None, :]
        at = share + (p[:, None] * 2) * channels + c[None, :]
        plain += tl.load(at, mask=inside, other=0.0)
        along += tl.load(at + channels, mask=inside, other=0.0)
    tl.store(plain_sum + c, tl.sum(plain, 0), mask=known)
    tl.store(along_sum + c, tl.sum(along, 0), mask=known)


@triton.jit
def gradient(
    g, x, weight, mean, rstd, plain_sum, along_sum, out, rows, channels, WEIGHT: tl.constexpr, R: tl.constexpr, C: tl.constexpr
):  # fmt: skip
    """A tile of the gradient of x."""
    r = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    c = tl.program_id(1) * C + tl.arange(0, C)
    known = c < channels
    inside = (r < rows)[:, None] & known[None, :]
    center, spread = tl.load(mean + c, mask=known, other=0.0), tl.load(rstd + c, mask=known, other=0.0)
    plain = tl.load(plain_sum + c, mask=known, other=0.0) / rows
    along = tl.load(along_sum + c, mask=known, other=0.0) / rows * spread
    scale = spread
    if WEIGHT:
        scale = scale * tl.load(weight + c, mask=known, other=0.0).to(tl.float32)
    at = r[:, None] * channels + c[None, :]
    b = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
    a = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    b = (b - plain[None, :] - (a - center[None, :]) * along[None, :]) * scale[None, :]
    tl.store(out + at, b.to(out.dtype.element_ty), mask=inside)


@triton.jit
def move(running_mean, running_var, mean, rstd, channels, momentum, eps, unbiased, B: tl.constexpr):
    """Running statistics, moved towards those of a batch; `unbiased` is n / (n - 1)."""
    c = tl.program_id(0) * B + tl.arange(0, B)
    known = c < channels
    kind = running_mean.dtype.element_ty
    scale = tl.load(rstd + c, mask=known, other=1.0).to(tl.float32)
    var = tl.maximum(1.0 / (scale * scale) - eps, 0.0) * unbiased
    center = tl.load(mean + c, mask=known, other=0.0).to(tl.float32)
    old_mean = tl.load(running_mean + c, mask=known, other=0.0).to(tl.float32)
    old_var = tl.load(running_var + c, mask=known, other=0.0).to(tl.float32)
    tl.store(running_mean + c, (old_mean + momentum * (center - old_mean)).to(kind), mask=known)
    tl.store(running_var + c, (old_var + momentum * (var - old_var)).to(kind), mask=known)


@triton.jit
def count_up(x):
    """One more."""
    tl.store(x, tl.load(x) + 1)

"""Batch and group normalization: zero mean and unit variance over images of a batch, or over groups of channels."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ...everywhere import dots
from ...layout import ARRAYS, as_image, as_images, channels_are_last, channels_last
from ...quiet import quietly
from ...registry import kernel
from ..reductions.sums import _ones

FEW, SHORT = 4, 128  # images, and their places, from which on a number for each channel is written out for all places
LONG = 1 << 15  # elements from which on products with ones are no longer exact enough in float32


def as_channels(x: Any) -> Any:
    """(N, C, *S) as (N, C, L)."""
    return x.reshape(x.shape[0], x.shape[1], math.prod(x.shape[2:]))


def channel_sums(xp: Any, x: Any) -> Any:
    """(N, C, L) summed to (C,): products with ones are faster than sums."""
    n, c, length = x.shape
    if length == 1:
        return _ones(xp, n, x.dtype)[0] @ x.reshape(n, c)
    return (x @ _ones(xp, length, x.dtype)[0]).sum(axis=0)


def channel_dots(xp: Any, x: Any, y: Any) -> Any:
    """(N, C, L) times (N, C, L), summed to (C,)."""
    if x.shape[2] == 1:
        return xp.einsum("ncl,ncl->c", x, y)
    return dots(xp, x, y).sum(axis=0)


def _column(xp: Any, values: Any, images: Any) -> Any:
    """(C,) against (N, C, L). NumPy is faster with numbers as they lie than with one for a row: written out, if they are few then."""
    n, c, length = images.shape
    if xp is numpy and n >= FEW and length >= SHORT:
        return numpy.repeat(values, length).reshape(c, length)
    return values[:, None]


def statistics(xp: Any, x: Any, mean: Any, rstd: Any, eps: float) -> tuple[Any, Any]:
    """Mean and unbiased variance of each channel, from what the normalization of x has found out."""
    axes = (0, *range(2, x.ndim))
    count = math.prod(x.shape[a] for a in axes)
    if mean.dtype.itemsize == 2:  # they were rounded
        wide = x.astype(xp.float32)
        mean, var = wide.mean(axis=axes), wide.var(axis=axes)
    else:
        var = xp.maximum(1 / (rstd * rstd) - eps, 0)
    return mean, var * (count / max(count - 1, 1))


def move(running: Any, value: Any, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * value, in place."""
    running[...] = (1 - momentum) * running + momentum * value


@kernel("count_up")
def count_up(xp: Any, x: Any) -> Any:
    """One more, in place: batches that were seen."""
    x += 1
    return x


@kernel("move_statistics")
def move_statistics(
    xp: Any, running_mean: Any, running_var: Any, x: Any, mean: Any, rstd: Any, momentum: float, eps: float
) -> None:
    """Move the running statistics (either may be None) towards those of a batch, in place; an empty one moves nothing."""
    if x.size:
        average, var = statistics(xp, x, mean, rstd, eps)
        if running_mean is not None:
            move(running_mean, average, momentum)
        if running_var is not None:
            move(running_var, var, momentum)


@kernel("batch_norm")
@quietly
def batch_norm(
    xp: Any, x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float
) -> Any:
    """The result, and the mean and 1 / standard deviation that were used: the batch's, or the running ones."""
    images = as_channels(x)
    if training:
        n = max(images.shape[0] * images.shape[2], 1)
        mean = channel_sums(xp, images) / xp.asarray(n, x.dtype)
        out = images - _column(xp, mean, images)
        var = channel_dots(xp, out, out) / xp.asarray(n, x.dtype)
    else:
        mean, var = running_mean.astype(x.dtype), running_var  # a copy: the running mean moves on
        out = images - _column(xp, mean, images)
    rstd = (1 / xp.sqrt(var + eps)).astype(x.dtype, copy=False)
    out *= _column(xp, rstd if weight is None else rstd * weight, images)
    if bias is not None:
        out += _column(xp, bias, images)
    out = out.reshape(x.shape)
    return as_image(out, x, channels_are_last(x)) if type(x) in ARRAYS else out, mean, rstd


@kernel("batch_norm_backward")
@quietly
def batch_norm_backward(xp: Any, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    upstream, images = as_channels(g), as_channels(x)
    total = along = gx = None
    if needs[2] or (training and needs[0]):
        total = channel_sums(xp, upstream)
    normal = None
    if needs[1] or (training and needs[0]):
        normal = images - _column(xp, mean, images)  # but for rstd
        along = channel_dots(xp, upstream, normal) * rstd
    scale = rstd if weight is None else rstd * weight
    if needs[0] and training:
        n = max(images.shape[0] * images.shape[2], 1)
        gx = normal
        gx *= _column(xp, along * rstd / xp.asarray(-n, x.dtype), images)
        gx += upstream
        gx -= _column(xp, total / xp.asarray(n, x.dtype), images)
        gx *= _column(xp, scale, images)
    elif needs[0]:
        gx = upstream * _column(xp, scale, images)
    if gx is not None:
        gx = gx.reshape(x.shape)
        gx = as_image(gx, x, channels_are_last(x) or channels_last(x)) if type(x) in ARRAYS else gx
    return gx, along if needs[1] else None, total if needs[2] else None


@kernel("group_norm")
@as_images
@quietly
def group_norm(xp: Any, x: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    """The result, and mean and 1 / standard deviation of each group of each image."""
    n, c = x.shape[:2]
    rows = x.reshape(n, groups, math.prod(x.shape[1:]) // groups)
    count = max(rows.shape[2], 1)
    long = count > LONG
    total = xp.add.reduce(rows, 2) if long else rows @ _ones(xp, rows.shape[2], x.dtype)[0]
    mean = total / xp.asarray(count, x.dtype)
    out = rows - mean[..., None]
    squares = xp.add.reduce(out * out, 2) if long else dots(xp, out, out)
    rstd = (1 / xp.sqrt(squares / xp.asarray(count, x.dtype) + eps)).astype(x.dtype, copy=False)
    out *= rstd[..., None]
    out = out.reshape(n, c, math.prod(x.shape[2:]))
    if weight is not None:
        out *= _column(xp, weight, out)
    if bias is not None:
        out += _column(xp, bias, out)
    return out.reshape(x.shape), mean, rstd


@kernel("group_norm_backward")
@quietly
def group_norm_backward(xp: Any, g: Any, x: Any, weight: Any, mean: Any, rstd: Any, groups: int, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    n = x.shape[0]
    shape = (n, groups, math.prod(x.shape[1:]) // groups)
    upstream = as_channels(g)
    normal = x.reshape(shape) - mean[..., None]
    normal *= rstd[..., None]
    gw = channel_dots(xp, upstream, normal.reshape(upstream.shape)) if needs[1] else None
    gb = channel_sums(xp, upstream) if needs[2] else None
    if not needs[0]:
        return None, gw, gb
    up = (upstream if weight is None else upstream * _column(xp, weight, upstream)).reshape(shape)
    count = xp.asarray(max(shape[2], 1), x.dtype)
    along = dots(xp, up, normal) / -count
    total = (up @ _ones(xp, shape[2], x.dtype)[0]) / count
    normal *= along[..., None]
    normal += up
    normal -= total[..., None]
    normal *= rstd[..., None]
    return normal.reshape(x.shape), gw, gb

"""Batch normalization in training of images whose channels lie side by side (`channels_last`), and its running statistics."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..choosing import always
from ..cuda.arrays import new, over, strided
from ..cuda.convolutions import is_channels_last, laid, last_strides
from ..registry import offer
from . import batch_norm_text as text
from .build import FLOATS, Kernel, Launch

_shares, _statistics, _normalize = Kernel(text.shares), Kernel(text.statistics), Kernel(text.normalize)
_gradient_shares, _sums, _gradient = Kernel(text.gradient_shares), Kernel(text.sums), Kernel(text.gradient)
_move = Kernel(text.move)

_SINGLE = np.dtype(np.float32)
_SHARES = 528  # programs that divide the places among them: four for each multiprocessor of an H200
_ROWS = 32  # places of a tile


def _accepts(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> bool:
    return bool(
        training
        and x.ndim != 3
        and x.ndim > 1
        and x.size > 0
        and x.dtype in FLOATS
        and x.dtype.itemsize <= 4
        and is_channels_last(x)
    )


class _Plan:
    """The launches for one kind of images: places, channels, how many programs share the places."""

    def __init__(self, x: Any, weight: bool, bias: bool, eps: float) -> None:
        channels = x.shape[1]
        rows = x.size // channels
        per = max(-(-rows // _SHARES), _ROWS)
        count, c = -(-rows // per), min(64, 1 << (channels - 1).bit_length())
        blocks, few = -(-channels // c), (-(-channels // 16),)
        tiles = (-(-rows // (2 * _ROWS)), blocks)
        self.share, self.each = (count, 2, channels), (channels,)
        self.begin = -(-4 * channels // 16) * 16
        self.shape, self.kind = x.shape, x.dtype
        self.strides, self.size = last_strides(x.shape, x.itemsize), x.nbytes
        self.shares = Launch(_shares, (count, blocks), (rows, channels, per), R=_ROWS, C=c)
        self.statistics = Launch(_statistics, few, (count, rows, channels, eps), P=64, C=16)
        modes = {"WEIGHT": weight, "R": 2 * _ROWS, "C": c}
        self.normalize = Launch(_normalize, tiles, (rows, channels), BIAS=bias, **modes)
        self.gradient_shares = Launch(_gradient_shares, (count, blocks), (rows, channels, per), R=_ROWS, C=c)
        self.sums = Launch(_sums, few, (count, channels), P=64, C=16)
        self.gradient = Launch(_gradient, tiles, (rows, channels), **modes)

    def new(self) -> Any:
        """Memory for a result like the images."""
        return strided(self.shape, self.kind, cupy.cuda.alloc(self.size), self.strides)


_plans: dict[Any, _Plan] = {}


def _plan(key: Any, x: Any, weight: Any, bias: Any, training: bool, eps: float) -> _Plan | None:
    """A new plan; None for what is not computed here."""
    if not _accepts(x, weight, bias, None, None, training, eps):
        return None
    if len(_plans) > 1024:
        _plans.clear()
    found = _plans[key] = _Plan(x, weight is not None, bias is not None, float(eps))
    return found


@offer("batch_norm", "triton", accepts=always)
def batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    """The result, and the mean and 1 / standard deviation of the batch."""
    of_weight, of_bias = None if weight is None else weight.dtype, None if bias is None else bias.dtype
    key = (x.shape, x.strides, x.dtype, of_weight, of_bias, training, eps)
    plan = _plans.get(key) or _plan(key, x, weight, bias, training, eps)
    if plan is None:
        return NotImplemented
    out, share = plan.new(), new(plan.share, _SINGLE)
    memory, each = cupy.cuda.alloc(2 * plan.begin), plan.each
    mean, rstd = over(each, _SINGLE, memory), over(each, _SINGLE, memory + plan.begin)
    plan.shares.run(x, share)
    plan.statistics.run(x, share, mean, rstd)
    plan.normalize.run(x, x if weight is None else weight, x if bias is None else bias, mean, rstd, out)
    return out, mean, rstd


@offer("batch_norm_backward", "triton", accepts=always)
def batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    # (Two gradients of different types need two launches.)
    of_weight = None if weight is None else weight.dtype
    key = (x.shape, x.strides, x.dtype, of_weight, g.dtype, mean.dtype, training)
    plan = _plans.get(key)
    if plan is None:
        plan = _plan(key, x, weight, g, training, 0.0) if mean.dtype == _SINGLE else None
        if plan is None:
            return NotImplemented
    if g.strides != plan.strides or g.dtype is not x.dtype:
        g = laid(g, True)
    share = new(plan.share, _SINGLE)
    memory, each = cupy.cuda.alloc(2 * plan.begin), plan.each
    gb, gw = over(each, _SINGLE, memory), over(each, _SINGLE, memory + plan.begin)
    plan.gradient_shares.run(g, x, mean, rstd, share)
    plan.sums.run(share, gb, gw)
    out = None
    if needs[0]:
        out = plan.new()
        plan.gradient.run(g, x, x if weight is None else weight, mean, rstd, gb, gw, out)
    return out, gw if needs[1] else None, gb if needs[2] else None


_moves: dict[Any, Launch] = {}


def _accepts_move(running_mean: Any, running_var: Any, x: Any, mean: Any, rstd: Any, *_: Any) -> bool:
    every = running_mean, running_var, mean, rstd
    return all(v is not None and v.dtype == np.float32 and v._c_contiguous and v.size for v in every)


@offer("move_statistics", "triton", accepts=_accepts_move)
def move_statistics(
    running_mean: Any, running_var: Any, x: Any, mean: Any, rstd: Any, momentum: float, eps: float
) -> None:
    """Move the running statistics towards those of the batch, in place."""
    count = x.size // x.shape[1]
    key = (mean.size, momentum, eps, count)
    launch = _moves.get(key)
    if launch is None:
        if len(_moves) > 1024:
            _moves.clear()
        numbers = mean.size, float(momentum), float(eps), count / max(count - 1, 1)
        launch = _moves[key] = Launch(_move, (-(-mean.size // 256),), numbers, B=256)
    launch.run(running_mean, running_var, mean, rstd)


_counting = Kernel(text.count_up)
_counts: dict[Any, Launch] = {}


@offer("count_up", "triton", accepts=lambda x: x.size == 1)
def count_up(x: Any) -> Any:
    """One more, in place."""
    launch = _counts.get(x.dtype)
    if launch is None:
        launch = _counts[x.dtype] = Launch(_counting, (1,))
    launch.run(x)
    return x

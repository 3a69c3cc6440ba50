"""Batch normalization in training of images whose channels lie side by side (`channels_last`), and its running statistics."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..cuda.convolutions import empty_as, is_channels_last, laid
from ..registry import offer
from . import batch_norm_text as text
from .build import FLOATS, Kernel, Launch

_shares, _statistics, _normalize = Kernel(text.shares), Kernel(text.statistics), Kernel(text.normalize)
_gradient_shares, _sums, _gradient = Kernel(text.gradient_shares), Kernel(text.sums), Kernel(text.gradient)
_move = Kernel(text.move)

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
        self.shares = Launch(_shares, (count, blocks), (rows, channels, per), R=_ROWS, C=c)
        self.statistics = Launch(_statistics, few, (count, rows, channels, eps), P=64, C=16)
        modes = {"WEIGHT": weight, "R": 2 * _ROWS, "C": c}
        self.normalize = Launch(_normalize, tiles, (rows, channels), BIAS=bias, **modes)
        self.gradient_shares = Launch(_gradient_shares, (count, blocks), (rows, channels, per), R=_ROWS, C=c)
        self.sums = Launch(_sums, few, (count, channels), P=64, C=16)
        self.gradient = Launch(_gradient, tiles, (rows, channels), **modes)


_plans: dict[Any, _Plan] = {}


def _plan(x: Any, weight: Any, bias: Any, eps: float) -> _Plan:
    key = (x.shape, x.dtype, None if weight is None else weight.dtype, None if bias is None else bias.dtype, eps)
    found = _plans.get(key)
    if found is None:
        if len(_plans) > 1024:
            _plans.clear()
        found = _plans[key] = _Plan(x, weight is not None, bias is not None, float(eps))
    return found


@offer("batch_norm", "triton", accepts=_accepts)
def batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    """The result, and the mean and 1 / standard deviation of the batch."""
    plan = _plan(x, weight, bias, eps)
    out = empty_as(x.shape, x.dtype, True)
    share = cupy.ndarray(plan.share, np.float32)
    mean, rstd = cupy.ndarray(plan.each, np.float32), cupy.ndarray(plan.each, np.float32)
    plan.shares.run(x, share)
    plan.statistics.run(x, share, mean, rstd)
    plan.normalize.run(x, x if weight is None else weight, x if bias is None else bias, mean, rstd, out)
    return out, mean, rstd


def _accepts_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> bool:
    return _accepts(x, weight, None, None, None, training, 0.0) and mean.dtype == np.float32


@offer("batch_norm_backward", "triton", accepts=_accepts_backward)
def batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    g = laid(g, True)
    plan = _plan(x, weight, g, 0.0)  # (two gradients of different types need two launches)
    share = cupy.ndarray(plan.share, np.float32)
    gb, gw = cupy.ndarray(plan.each, np.float32), cupy.ndarray(plan.each, np.float32)
    plan.gradient_shares.run(g, x, mean, rstd, share)
    plan.sums.run(share, gb, gw)
    out = None
    if needs[0]:
        out = empty_as(x.shape, x.dtype, True)
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

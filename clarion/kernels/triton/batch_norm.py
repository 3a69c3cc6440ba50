"""Batch normalization in training of images whose channels lie side by side (`channels_last`), and its running statistics."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..cuda.convolutions import empty_as, is_channels_last, laid
from ..registry import offer
from . import batch_norm_text as text
from .build import FLOATS, Kernel

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


def _divided(x: Any) -> tuple[int, int, int, int, int]:
    """Places, channels, how many share the places, places of each, channels of a tile."""
    channels = x.shape[1]
    rows = x.size // channels
    per = max(-(-rows // _SHARES), _ROWS)
    return rows, channels, -(-rows // per), per, min(64, 1 << (channels - 1).bit_length())


@offer("batch_norm", "triton", accepts=_accepts)
def batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    """The result, and the mean and 1 / standard deviation of the batch."""
    rows, channels, count, per, c = _divided(x)
    blocks = -(-channels // c)
    out = empty_as(x.shape, x.dtype, True)
    share = cupy.ndarray((count, 2, channels), np.float32)
    mean, rstd = cupy.ndarray((channels,), np.float32), cupy.ndarray((channels,), np.float32)
    _shares.launch((count, blocks), (x, share, rows, channels, per), R=_ROWS, C=c)
    _statistics.launch((-(-channels // 16),), (x, share, mean, rstd, count, rows, channels, float(eps)), P=64, C=16)
    _normalize.launch(
        (-(-rows // (2 * _ROWS)), blocks),
        (x, x if weight is None else weight, x if bias is None else bias, mean, rstd, out, rows, channels),
        WEIGHT=weight is not None, BIAS=bias is not None, R=2 * _ROWS, C=c,
    )  # fmt: skip
    return out, mean, rstd


def _accepts_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> bool:
    return _accepts(x, weight, None, None, None, training, 0.0) and mean.dtype == np.float32


@offer("batch_norm_backward", "triton", accepts=_accepts_backward)
def batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    g = laid(g, True)
    rows, channels, count, per, c = _divided(x)
    blocks = -(-channels // c)
    share = cupy.ndarray((count, 2, channels), np.float32)
    gb, gw = cupy.ndarray((channels,), np.float32), cupy.ndarray((channels,), np.float32)
    _gradient_shares.launch((count, blocks), (g, x, mean, rstd, share, rows, channels, per), R=_ROWS, C=c)
    _sums.launch((-(-channels // 16),), (share, gb, gw, count, channels), P=64, C=16)
    out = None
    if needs[0]:
        out = empty_as(x.shape, x.dtype, True)
        _gradient.launch(
            (-(-rows // (2 * _ROWS)), blocks),
            (g, x, x if weight is None else weight, mean, rstd, gb, gw, out, rows, channels),
            WEIGHT=weight is not None, R=2 * _ROWS, C=c,
        )  # fmt: skip
    return out, gw if needs[1] else None, gb if needs[2] else None


def _accepts_move(running_mean: Any, running_var: Any, x: Any, mean: Any, rstd: Any, *_: Any) -> bool:
    every = running_mean, running_var, mean, rstd
    return all(v is not None and v.dtype == np.float32 and v._c_contiguous and v.size for v in every)


@offer("move_statistics", "triton", accepts=_accepts_move)
def move_statistics(
    running_mean: Any, running_var: Any, x: Any, mean: Any, rstd: Any, momentum: float, eps: float
) -> None:
    """Move the running statistics towards those of the batch, in place."""
    count = x.size // x.shape[1]
    numbers = float(momentum), float(eps), count / max(count - 1, 1)
    _move.launch((-(-mean.size // 256),), (running_mean, running_var, mean, rstd, mean.size, *numbers), B=256)

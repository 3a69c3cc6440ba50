"""Group normalization on the GPU: one launch forward; backward one for the sums of the channels, one for the input, one for the weights."""

from __future__ import annotations

import math
from typing import Any

import cupy

from ..cuda.arrays import new, over
from ..cuda.convolutions import empty_as, is_channels_last, laid
from ..registry import offer
from . import group_norm_text as text
from .build import FLOATS, Kernel, Launch
from .rows import _block, _contiguous, _kept, _two_sums, _warps, _wide

_forward, _sums, _backward = Kernel(text.group_norm), Kernel(text.channel_sums), Kernel(text.group_norm_backward)
_WHOLE = 8192  # elements of a group that are held in registers
_LONGEST = 1 << 16  # a longer one is worth more than one program,
_MANY = 132  # unless there are as many groups as an H200 has multiprocessors


def _accepts(x: Any, weight: Any, bias: Any, groups: int, eps: float) -> bool:
    count = x.shape[0] * groups
    known = x.dtype in FLOATS and 0 < x.size < 2**31
    return bool(known and (x.size // count <= _LONGEST or count >= _MANY))


def _lies_last(x: Any) -> bool:
    return bool(x.ndim > 3 and not x._c_contiguous and is_channels_last(x))


@offer("group_norm", "triton", accepts=_accepts)
def group_norm(x: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    """The result, and mean and 1 / standard deviation of each group of each image."""
    last = _lies_last(x)
    x, weight, bias = laid(x, last), _contiguous(weight), _contiguous(bias)
    images, channels = x.shape[:2]

    def make() -> Launch:
        size = math.prod(x.shape[2:])
        n = channels // groups * size
        block = min(_block(n), _WHOLE)
        modes = {"WEIGHT": weight is not None, "BIAS": bias is not None, "LAST": last, "WHOLE": n <= block, "B": block}
        numbers = (groups, channels, size, float(eps))
        return Launch(_forward, (images * groups,), numbers, num_warps=_warps(block), **modes)

    kinds = [None if each is None else each.dtype for each in (weight, bias)]
    launch = _kept(("group_norm", x.shape, x.dtype, last, *kinds, groups, eps), make)
    wide = _wide(x.dtype)
    out, mean, rstd = empty_as(x.shape, x.dtype, last), new((images, groups), wide), new((images, groups), wide)
    launch.run(x, x if weight is None else weight, x if bias is None else bias, out, mean, rstd)
    return out, mean, rstd


class _Gradients:
    """The launches for the gradients of images of one shape."""

    def __init__(self, x: Any, weight: Any, groups: int, last: bool) -> None:
        images, channels = x.shape[:2]
        size = math.prod(x.shape[2:])
        n = channels // groups * size
        self.channels, self.shares = channels, (2, images, channels)
        self.kind = x.dtype if weight is None else weight.dtype
        self.begin = -(-channels * self.kind.itemsize // 16) * 16
        places = min(_block(size), 64 if last else 1024)
        together = min(_block(channels), 32 if last else max(1, 1024 // places))
        numbers = (groups, channels, size)
        self.sums = Launch(_sums, (images, -(-channels // together)), numbers, LAST=last, C=together, S=places)
        block = min(_block(n), 2048)
        modes = {"WEIGHT": weight is not None, "LAST": last, "W": _block(channels // groups), "B": block}
        self.input = Launch(_backward, (images * groups, -(-n // block)), (images, *numbers), **modes)
        self.weights = Launch(_two_sums, (-(-channels // 16),), (images, channels), P=128, C=16)


@offer(
    "group_norm_backward",
    "triton",
    accepts=lambda g, x, weight, mean, rstd, groups, needs: (
        x.dtype in FLOATS and 0 < x.size < 2**31 and mean.dtype is _wide(x.dtype)
    ),
)
def group_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, groups: int, needs: Any) -> Any:
    """Gradients of the input, the weight and the bias."""
    last = _lies_last(x)
    g, x, weight = laid(g, last), laid(x, last), _contiguous(weight)
    kind = None if weight is None else weight.dtype
    key = ("group_norm_backward", x.shape, x.dtype, g.dtype, kind, last, groups)
    plan = _kept(key, lambda: _Gradients(x, weight, groups, last))
    shares = new(plan.shares, mean.dtype)
    plan.sums.run(g, x, mean, rstd, shares)
    gx = gw = gb = None
    if needs[0]:
        gx = empty_as(x.shape, x.dtype, last)
        plan.input.run(g, x, x if weight is None else weight, mean, rstd, shares, gx)
    if needs[1] or needs[2]:
        memory = cupy.cuda.alloc(2 * plan.begin)
        shape = (plan.channels,)
        gw, gb = over(shape, plan.kind, memory), over(shape, plan.kind, memory + plan.begin)
        plan.weights.run(shares, gw, gb)
    return gx, gw if needs[1] else None, gb if needs[2] else None

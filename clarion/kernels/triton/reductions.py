"""Sums and means on the GPU, over any dimensions of an array with any strides: one launch, or two where there are few results."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import triton.language as tl

from ..cuda.arrays import new
from ..flat import in_order
from ..registry import offer, raw
from . import reductions_text as text
from .build import FLOATS, Kernel, Launch

_sums = Kernel(text.sums)

_ENOUGH = 1056  # programs that keep a large GPU busy
_DIMS = 3  # as many dimensions as the kernel counts over, after neighbours are joined


def _joined(shape: list[int], steps: list[int]) -> tuple[list[int], list[int]]:
    """Sizes and distances with neighbouring dimensions joined where they lie one in the other."""
    sizes: list[int] = []
    moves: list[int] = []
    for n, step in zip(shape, steps, strict=True):
        if n == 1:
            continue
        if sizes and moves[-1] == n * step:
            sizes[-1] *= n
            moves[-1] = step
        else:
            sizes.append(n)
            moves.append(step)
    return (sizes, moves) if sizes else ([1], [0])


class _Plan:
    """How one kind of array is summed."""

    def __init__(self, x: Any, dims: frozenset[int], mean: bool) -> None:
        steps = [s // x.itemsize for s in x.strides]
        whole = range(x.ndim)
        kept, kept_steps = _joined(
            [x.shape[d] for d in whole if d not in dims], [steps[d] for d in whole if d not in dims]
        )
        # (The order in which elements are summed is free: the nearest ones last.)
        order = sorted(dims, key=lambda d: -steps[d])
        summed, summed_steps = _joined([x.shape[d] for d in order], [steps[d] for d in order])
        self.fits = len(kept) <= _DIMS and len(summed) <= _DIMS
        if not self.fits:
            return
        self.wide = np.dtype(np.float64) if x.itemsize == 8 else np.dtype(np.float32)
        self.kind = x.dtype
        self.count, terms = math.prod(kept), math.prod(summed)
        # A mean is the sum times one over the count, rounded as the sum is: PyTorch's kernel multiplies so.
        one = self.wide.type(1)
        factor = one / self.wide.type(terms) if mean else one
        across = kept_steps[-1] == 1 and summed_steps[-1] != 1
        k, r = (64, 32) if across else (1, 2048) if terms >= 1024 else (8, 256) if terms >= 64 else (64, 32)
        programs = -(-self.count // k)
        self.shares = max(1, min(_ENOUGH // programs, terms // (8 * r)))
        per = -(-terms // self.shares)
        self.shares = -(-terms // per)
        shape = _padded(kept)[1:], _padded(kept_steps, 0), _padded(summed)[1:], _padded(summed_steps, 0)
        numbers = (self.count, terms, per, factor if self.shares == 1 else one, *[n for each in shape for n in each])
        modes: dict[str, Any] = {"KIND": tl.float64 if x.itemsize == 8 else tl.float32, "K": k, "R": r}
        modes |= {"KEPT": len(kept), "REDUCED": len(summed), "ACROSS": across, "num_warps": 8 if k * r > 1024 else 4}
        unit = (kept_steps if across else summed_steps)[-1] == 1
        self.first = Launch(_sums, (programs, self.shares), numbers, UNIT=unit, **modes)
        if self.shares > 1:
            modes |= {"KEPT": 1, "REDUCED": 1, "ACROSS": True, "K": 16, "R": 64, "num_warps": 4}
            numbers = (self.count, self.shares, self.shares, factor, 1, 1, 0, 0, 1, 1, 1, 0, 0, self.count)
            self.second = Launch(_sums, (-(-self.count // 16), 1), numbers, UNIT=True, **modes)

    def __call__(self, x: Any, shape: tuple[int, ...]) -> Any:
        out = new(shape, self.kind)
        if self.shares == 1:
            self.first.run(x, out)
        else:
            parts = new((self.shares, self.count), self.wide)
            self.first.run(x, parts)
            self.second.run(parts, out)
        return out


def _padded(values: list[int], with_: int = 1) -> list[int]:
    return [with_] * (_DIMS - len(values)) + values


_plans: dict[Any, _Plan] = {}


def _reduced(x: Any, dim: Any, keepdim: bool, mean: bool) -> Any:
    key = (x.shape, x.strides, x.dtype, dim, mean)
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) > 4096:
            _plans.clear()
        plan = _plans[key] = _Plan(x, frozenset(range(x.ndim) if dim is None else dim), mean)
    if not plan.fits:
        return NotImplemented
    left = [n if dim is not None and d not in dim else 1 for d, n in enumerate(x.shape)]
    return plan(x, tuple(left if keepdim else [n for d, n in enumerate(left) if dim is not None and d not in dim]))


def _accepts(x: Any, *_: Any) -> bool:
    return x.dtype in FLOATS and x.ndim > 0 and x.size > 0


offer("sum", "triton", lambda x, dim, keepdim: _reduced(x, dim, keepdim, False), accepts=_accepts)
offer("mean", "triton", lambda x, dim, keepdim: _reduced(x, dim, keepdim, True), accepts=_accepts)
offer("sum_all", "triton", lambda x: _reduced(x, None, False, False), accepts=_accepts)
offer("mean_all", "triton", lambda x: _reduced(x, None, False, True), accepts=_accepts)


_all_finite = Kernel(text.all_finite)
_BYTE = np.dtype(np.int8)


@offer("all_finite", "triton", accepts=lambda x: x.dtype in FLOATS and x.size > 0)
def all_finite(x: Any) -> Any:
    """Is no element infinite or NaN? A number of the GPU: 1 or 0."""
    if not x._c_contiguous and not in_order(x)._c_contiguous:
        x = raw.sub(x, x)  # dense, and not finite where it is not
    out = new((), _BYTE)
    out.data.memset_async(1, 1)
    key = ("finite", x.size, x.dtype)
    launch = _finite.get(key)
    if launch is None:
        if len(_finite) > 1024:
            _finite.clear()
        launch = _finite[key] = Launch(_all_finite, (-(-x.size // 4096),), (x.size,), B=4096, num_warps=8)
    launch.run(x, out)
    return out


_finite: dict[Any, Launch] = {}

"""Running sums, products and extremes along one dimension."""

from __future__ import annotations

import math
from typing import Any

from ...everywhere import running
from ...layout import in_rows
from ...quiet import quietly
from ...registry import kernel

# float32 is accumulated in float64 and rounded once: the errors of a scan add up along its whole length.
_WIDE = {"f": "d", "F": "D"}


def _accumulate(xp: Any, ufunc: Any, x: Any, dim: int) -> Any:
    if x.ndim == 0:
        return x.astype(xp.int64) if x.dtype.kind in "bui" else x.copy()
    if x.dtype.kind in "bui":
        return ufunc.accumulate(x, axis=dim, dtype=xp.int64)
    wide = _WIDE.get(x.dtype.char, x.dtype)
    if dim == x.ndim - 1:
        return ufunc.accumulate(x, axis=dim, dtype=wide).astype(x.dtype, copy=False)
    # NumPy is three times as fast along the last dimension of contiguous memory.
    moved = x.swapaxes(dim, -1).astype(wide, order="C")
    return ufunc.accumulate(moved, axis=-1, out=moved).swapaxes(dim, -1).astype(x.dtype, order="C")


@kernel("cumsum")
@in_rows
@quietly
def cumsum(xp: Any, x: Any, dim: int) -> Any:
    return _accumulate(xp, xp.add, x, dim)


@kernel("reverse_cumsum")
@in_rows
@quietly
def reverse_cumsum(xp: Any, x: Any, dim: int) -> Any:
    """The sum of each element and all that follow it: the gradient of `cumsum`."""
    return xp.flip(_accumulate(xp, xp.add, xp.flip(x, dim), dim), dim) if x.ndim else x.copy()


@kernel("cumprod")
@in_rows
@quietly
def cumprod(xp: Any, x: Any, dim: int) -> Any:
    return _accumulate(xp, xp.multiply, x, dim)


@kernel("logcumsumexp")
@in_rows
@quietly
def logcumsumexp(xp: Any, x: Any, dim: int) -> Any:
    if x.ndim == 0 or x.size == 0:
        return x.copy()
    return _complex_logcumsumexp(xp, x, dim) if x.dtype.kind == "c" else running(xp, "logaddexp", x, dim)


def _complex_logcumsumexp(xp: Any, x: Any, dim: int) -> Any:
    """One after the other: the argument of each sum is near that of its larger part, and may leave (-pi, pi]."""
    out = xp.empty(x.shape, x.dtype)
    sums = xp.full(out.take(0, dim).shape, -math.inf, x.dtype)
    for k in range(x.shape[dim]):
        at = (slice(None),) * dim + (k,)
        out[at] = sums = _log_add_exp(xp, x[at], sums)
    return out


def _log_add_exp(xp: Any, a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)) for complex numbers: the one with the larger real part, and what the other adds to it."""
    below = a.real < b.real
    small, large = xp.where(below, a, b), xp.where(below, b, a)
    added = xp.exp(small - large)
    x, y = added.real, added.imag
    near = 0.5 * xp.log1p(x * (2 + x) + y * y)
    made = large + (xp.where(xp.hypot(x, y) < 0.5, near, xp.log(xp.hypot(1 + x, y))) + 1j * xp.arctan2(y, 1 + x))
    equal = ~xp.isfinite(large.real) & (small.real == large.real)
    made = xp.where(equal, xp.where(large.real < 0, small, xp.log(xp.exp(a) + xp.exp(b))), made)
    return xp.where(xp.isnan(a) | xp.isnan(b), complex(math.nan, math.nan), made).astype(a.dtype)


def _running(xp: Any, extreme: str, x: Any, dim: int) -> Any:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    values = running(xp, extreme, x, dim)
    renewed = x == values
    if x.dtype.kind == "f":
        renewed |= xp.isnan(x)
    places = xp.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - dim - 1))
    return values, running(xp, "maximum", xp.where(renewed, places, 0), dim)


@kernel("cummax")
@in_rows
def cummax(xp: Any, x: Any, dim: int) -> Any:
    return _running(xp, "maximum", x, dim)


@kernel("cummin")
@in_rows
def cummin(xp: Any, x: Any, dim: int) -> Any:
    return _running(xp, "minimum", x, dim)

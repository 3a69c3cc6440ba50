"""The normal distribution function, its logarithm and its inverse; erfc scaled by exp(x²); entropy; scaled Bessel functions.

All of them are computed in float64 and rounded.
"""

from __future__ import annotations

import math
from typing import Any

from ...registry import kernel
from .special import _wide, chebyshev_i1, erfc, erfinv, large_erfcx, polynomial

_ROOT_HALF = math.sqrt(0.5)


@kernel("special_erfcx")
@_wide
def erfcx(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    square = x * x
    near = xp.exp(xp.minimum(square, 1.0)) * erfc(xp, xp.clip(x, -1, 1))
    far = large_erfcx(xp, xp.maximum(a, 1))
    return xp.where(a <= 1, near, xp.where(x < 0, 2 * xp.exp(square) - far, far))


@kernel("special_ndtr")
@_wide
def ndtr(xp: Any, x: Any) -> Any:
    return 0.5 * erfc(xp, x * -_ROOT_HALF)


@kernel("special_log_ndtr")
@_wide
def log_ndtr(xp: Any, x: Any) -> Any:
    """Far below zero, where the function itself vanishes, by way of `erfcx`."""
    below = xp.minimum(x, -1)
    low = xp.log(0.5 * erfcx(xp, below * -_ROOT_HALF)) - below * below * 0.5
    high = xp.log1p(-0.5 * erfc(xp, xp.maximum(x, -1) * _ROOT_HALF))
    return xp.where(x < -1, xp.where(x == -math.inf, -math.inf, low), high)


@kernel("special_ndtri")
@_wide
def ndtri(xp: Any, p: Any) -> Any:
    """A rational start for the smaller tail (Hastings), then steps of Halley's method, on the logarithm far out."""
    tail = xp.minimum(p, 1 - p)
    inside = xp.where((tail > 0) & (tail < 1), tail, 0.25)
    t = xp.sqrt(-2 * xp.log(inside))
    numerator = polynomial(t, (0.010328, 0.802853, 2.515517))
    x = numerator / polynomial(t, (0.001308, 0.189269, 1.432788, 1.0)) - t
    wanted = xp.log(inside)
    for _ in range(4):
        found = log_ndtr(xp, x)
        # The slope of log_ndtr is the density over the function: 1 / (erfcx(-x / √2) √(π / 2)).
        slope = math.sqrt(2 / math.pi) / erfcx(xp, x * -_ROOT_HALF)
        step = (found - wanted) / slope
        x = x - step / (1 + 0.5 * step * (slope + x))
    x = xp.where(p > 0.5, -x, x)
    middle = xp.clip(2 * p - 1, -0.5, 0.5)
    x = xp.where(xp.abs(2 * p - 1) < 0.5, math.sqrt(2) * erfinv(xp, middle), x)
    x = xp.where(p == 0, -math.inf, xp.where(p == 1, math.inf, x))
    return xp.where((p >= 0) & (p <= 1), x, math.nan)


@kernel("special_entr")
@_wide
def entr(xp: Any, x: Any) -> Any:
    return xp.where(x > 0, -x * xp.log(xp.where(x > 0, x, 1)), xp.where(x == 0, 0.0, xp.where(x < 0, -math.inf, x)))


@kernel("special_xlog1py")
@_wide
def xlog1py(xp: Any, x: Any, y: Any) -> Any:
    return xp.where((x == 0) & ~xp.isnan(y), 0.0, x * xp.log1p(y))


# Bessel functions --------------------------------------------------------------------------------------

_LARGEST = 600.0  # of whose i0 is a number of float64, with room to spare


@kernel("special_i0e")
@_wide
def i0e(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    near = xp.minimum(a, _LARGEST)
    scaled = xp.i0(near).reshape(x.shape) * xp.exp(-near)
    # Far out, the first terms of the expansion in 1 / (8 x).
    z = 1 / (8 * xp.maximum(a, _LARGEST))
    far = (1 + z * (1 + z * (4.5 + z * (37.5 + z * 459.375)))) / xp.sqrt(2 * math.pi * xp.maximum(a, _LARGEST))
    return xp.where(a <= _LARGEST, scaled, far)


@kernel("special_i1e")
@_wide
def i1e(xp: Any, x: Any) -> Any:
    return xp.copysign(chebyshev_i1(xp, xp.abs(x)), x)


@kernel("special_modified_bessel_i0")
@_wide
def modified_bessel_i0(xp: Any, x: Any) -> Any:
    a = xp.abs(x)
    return xp.exp(a) * i0e(xp, a)


@kernel("special_modified_bessel_i1")
@_wide
def modified_bessel_i1(xp: Any, x: Any) -> Any:
    return xp.copysign(xp.exp(xp.abs(x)) * chebyshev_i1(xp, xp.abs(x)), x)

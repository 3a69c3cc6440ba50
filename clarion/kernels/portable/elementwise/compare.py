"""Comparisons, logic and bits."""

from __future__ import annotations

from typing import Any

from ...registry import kernel, ufunc

ufunc("eq", "equal")
ufunc("ne", "not_equal")
ufunc("lt", "less")
ufunc("le", "less_equal")
ufunc("gt", "greater")
ufunc("ge", "greater_equal")
ufunc("logical_and")
ufunc("logical_or")
ufunc("logical_xor")
ufunc("logical_not")
ufunc("bitwise_and")
ufunc("bitwise_or")
ufunc("bitwise_xor")
ufunc("bitwise_not", "invert")
ufunc("bitwise_left_shift", "left_shift")
ufunc("bitwise_right_shift", "right_shift")
ufunc("gcd")
ufunc("lcm")


@kernel("isclose")
def isclose(xp: Any, x: Any, y: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = x == y
    if equal_nan and x.dtype.kind in "fc":
        close = close | (xp.isnan(x) & xp.isnan(y))
    if rtol == 0 and atol == 0:
        return close
    if x.dtype.kind in "b":
        x, y = x.astype("u1"), y.astype("u1")
    distance = xp.abs(xp.where(x > y, x - y, y - x) if x.dtype.kind in "iu" else x - y)
    return close | (xp.isfinite(distance) & (distance <= atol + xp.abs(rtol * y)))

"""Hurwitz's zeta function and the incomplete gamma functions, in float64 and rounded."""

from __future__ import annotations

import math
from typing import Any

from ...registry import kernel
from .special import ZETA, _wide, lgamma, log_gamma_correction

_MOST = 20_000  # terms: enough for a million in both arguments
_EPS = 2.0**-53


@kernel("special_zeta")
@_wide
def zeta(xp: Any, s: Any, q: Any) -> Any:
    """The sum of (q + k) ** -s: the first terms, then Euler and Maclaurin's formula."""
    whole = s == xp.floor(s)
    good = (s > 1) & (q > 0) | (s > 1) & whole & (q != xp.floor(q))
    power, a = xp.where(good, s, 2.0), xp.where(good, q, 1.0)
    total = 0.0
    count = 0
    while count < 10 or (count < _MOST and bool((a < 10).any())):
        # (A negative base has a power where the exponent is whole.)
        now = (a < 10) | (count < 10)
        total = total + xp.where(now, _power(xp, xp.where(now, a, 1.0), -power), 0.0)
        a = xp.where(now, a + 1, a)
        count += 1
    last = _power(xp, a, -power)
    total = total + a * last / (power - 1) + 0.5 * last
    factor, share = power, last / a
    for k, c in enumerate(ZETA):
        total = total + factor * share / c
        factor = factor * (power + 2 * k + 1) * (power + 2 * k + 2)
        share = share / (a * a)
    pole = (s == 1) | ((s > 1) & (q <= 0) & (q == xp.floor(q)))
    return xp.where(good, total, xp.where(pole, math.inf, math.nan))


def _power(xp: Any, base: Any, exponent: Any) -> Any:
    odd = xp.floor(exponent / 2) * 2 != exponent
    found = xp.abs(base) ** exponent
    return xp.where((base < 0) & odd, -found, found)


# Incomplete gamma functions ----------------------------------------------------------------------------


def _weight(xp: Any, a: Any, x: Any) -> Any:
    """x ** a exp(-x) / gamma(a + 1), where the two large logarithms meet without loss."""
    large = a > 10
    b = xp.where(large, a, 20.0)
    d = (x - b) / b
    far = xp.exp(b * (xp.log1p(xp.maximum(d, -1)) - d)) / xp.sqrt(2 * math.pi * b) * xp.exp(-log_gamma_correction(b))
    c = xp.where(large, 1.0, a)
    near = xp.exp(c * xp.log(xp.where(x > 0, x, 1.0)) - x - lgamma(xp, c + 1))
    return xp.where(large, far, near)


def _by_series(xp: Any, a: Any, x: Any) -> Any:
    """The lower function over the weight: 1 + x / (a + 1) + x² / ((a + 1) (a + 2)) + …"""
    total = term = xp.ones_like(a)
    for k in range(1, _MOST):
        term = term * (x / (a + k))
        total = total + term
        if not bool((term > total * _EPS).any()):
            break
    return total


def _by_fraction(xp: Any, a: Any, x: Any) -> Any:
    """The upper function over the weight times a: Legendre's continued fraction, as Lentz evaluates it."""
    tiny = 1e-300
    b = x + 1 - a
    c, d = xp.ones_like(a) / tiny, 1 / xp.where(b == 0, tiny, b)
    total = d
    for k in range(1, _MOST):
        an = -k * (k - a)
        b = b + 2
        d = an * d + b
        d = 1 / xp.where(d == 0, tiny, d)
        c = b + an / c
        c = xp.where(c == 0, tiny, c)
        change = d * c
        total = total * change
        if not bool((xp.abs(change - 1) > 2 * _EPS).any()):
            break
    return total


def _incomplete(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """Both functions, the smaller one computed and the other one its complement."""
    a, x = xp.broadcast_arrays(a, x)
    inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    low = inside & (x < a + 1)
    b, y = xp.where(inside, a, 1.0), xp.where(inside, x, 1.0)
    weight = _weight(xp, b, y)
    lower = weight * _by_series(xp, xp.where(low, b, 1.0), xp.where(low, y, 0.5))
    upper = weight * b * _by_fraction(xp, xp.where(low, 1.0, b), xp.where(low, 3.0, y))
    return xp.where(low, lower, 1 - upper), xp.where(low, 1 - lower, upper)


def _at_the_ends(xp: Any, a: Any, x: Any, found: Any, at_zero: float) -> Any:
    """What holds where one of the arguments is 0 or infinite."""
    zero = (x == 0) & (a > 0) | xp.isinf(a) & (x >= 0) & (x < math.inf)
    all_of_it = (a == 0) & (x > 0) | xp.isinf(x) & (x > 0) & (a >= 0) & (a < math.inf)
    found = xp.where(zero, at_zero, xp.where(all_of_it, 1 - at_zero, found))
    wrong = (a < 0) | (x < 0) | (a == 0) & (x == 0) | xp.isinf(a) & xp.isinf(x) | xp.isnan(a) | xp.isnan(x)
    return xp.where(wrong, math.nan, found)


@kernel("gammainc")
@_wide
def gammainc(xp: Any, a: Any, x: Any) -> Any:
    return _at_the_ends(xp, a, x, _incomplete(xp, a, x)[0], 0.0)


@kernel("gammaincc")
@_wide
def gammaincc(xp: Any, a: Any, x: Any) -> Any:
    return _at_the_ends(xp, a, x, _incomplete(xp, a, x)[1], 1.0)

"""Orthogonal polynomials: `name(x, n)`, where every element has a degree of its own (the integer part of n).

A Family says how the polynomial of degree k+1 follows from those of degrees k and k-1, and where another way is taken: at
the ends of the interval, and inside it for high degrees, where the recurrence would lose digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...layout import alike
from ...quiet import quietly
from ...registry import kernel


@dataclass(frozen=True)
class Family:
    """One kind of polynomial.

    first    the polynomial of degree 1, of x
    after    (x, q, p, k): the polynomial of degree k + 1 from those of degrees k (q) and k - 1 (p)
    shift    x stands for 2x - 1
    at_one, at_minus_one   the values at the ends, of the degree and its parity (1 or -1)
    inside   (above which degree, angle and degree -> value): inside (-1, 1), x being the cosine of the angle
    limits   degrees above which nothing is computed (NaN), by the type's size
    """

    first: Callable[..., Any]
    after: Callable[..., Any]
    shift: bool = False
    at_one: Callable[..., Any] | None = None
    at_minus_one: Callable[..., Any] | None = None
    inside: tuple[int, Callable[..., Any]] | None = None
    limits: dict[int, int] | None = None
    at_zero: float | None = None


def _evaluate(xp: Any, family: Family, x: Any, n: Any) -> Any:
    x = x * 2 - 1 if family.shift else x
    x, n = xp.broadcast_arrays(x, xp.trunc(n))
    parity = xp.where(n % 2 == 0, 1, -1)
    settled = n < 0
    result = xp.zeros_like(x)

    def settle(where: Any, value: Any) -> None:
        nonlocal result, settled
        result = xp.where(where & ~settled, value, result).astype(x.dtype, copy=False)
        settled = settled | where

    if family.at_one is not None and family.at_minus_one is not None:
        settle(x == 1, family.at_one(n, parity))
        settle(x == -1, family.at_minus_one(n, parity))
    if family.at_zero is not None:
        settle(x == 0, family.at_zero)
    if family.inside is not None:
        above, closed = family.inside
        within = (abs(x) < 1) & (n > above)
        settle(within, closed(xp, xp.arccos(xp.where(within, x, 0)), n))
    if family.limits is not None:
        settle(n > family.limits[x.dtype.itemsize], xp.nan)
    q, p = family.first(x), xp.ones_like(x)
    settle(n == 0, p)
    settle(n == 1, q)
    degree = 1
    while not bool((settled | xp.isnan(q)).all()):
        q, p = family.after(x, q, p, degree).astype(x.dtype, copy=False), q
        degree += 1
        settle(n == degree, q)
    return xp.where(settled, result, q)


def _doubled(x: Any, q: Any, p: Any, k: int) -> Any:
    return 2 * x * q - p


def _ratio(name: str, half: bool) -> Callable[..., Any]:
    """sin((n+1) t) / sin(t), or the same of t/2 and n + 1/2 with sine or cosine."""

    def closed(xp: Any, angle: Any, n: Any) -> Any:
        function = getattr(xp, name)
        if half:
            return function((n + 0.5) * angle) / function(angle / 2)
        return function((n + 1) * angle) / function(angle)

    return closed


def _cosine(xp: Any, angle: Any, n: Any) -> Any:
    return xp.cos(n * angle)


def _chebyshev(kind: str, above: int, shift: bool) -> Family:
    one, minus_one, first, closed = {
        "t": (lambda n, s: 1 + 0 * n, lambda n, s: s, lambda x: x, _cosine),
        "u": (lambda n, s: n + 1, lambda n, s: s * (n + 1), lambda x: 2 * x, _ratio("sin", False)),
        "v": (lambda n, s: 1 + 0 * n, lambda n, s: s * (2 * n + 1), lambda x: 2 * x - 1, _ratio("cos", True)),
        "w": (lambda n, s: 2 * n + 1, lambda n, s: s, lambda x: 2 * x + 1, _ratio("sin", True)),
    }[kind]
    return Family(first, _doubled, shift, one, minus_one, (above, closed))


_LIMITS = {4: 128, 8: 512}

FAMILIES = {
    "chebyshev_polynomial_t": _chebyshev("t", 6, False),
    "chebyshev_polynomial_u": _chebyshev("u", 8, False),
    "chebyshev_polynomial_v": _chebyshev("v", 8, False),
    "chebyshev_polynomial_w": _chebyshev("w", 8, False),
    "shifted_chebyshev_polynomial_t": _chebyshev("t", 6, True),
    "shifted_chebyshev_polynomial_u": _chebyshev("u", 6, True),
    "shifted_chebyshev_polynomial_v": _chebyshev("v", 6, True),
    "shifted_chebyshev_polynomial_w": _chebyshev("w", 4, True),
    "hermite_polynomial_h": Family(lambda x: 2 * x, lambda x, q, p, k: 2 * x * q - 2 * k * p, limits=_LIMITS),
    "hermite_polynomial_he": Family(lambda x: 1 * x, lambda x, q, p, k: x * q - k * p, limits=_LIMITS),
    "laguerre_polynomial_l": Family(
        lambda x: 1 - x, lambda x, q, p, k: ((2 * k + 1 - x) * q - k * p) / (k + 1), at_zero=1.0
    ),
    "legendre_polynomial_p": Family(
        lambda x: 1 * x,
        lambda x, q, p, k: ((2 * k + 1) * x * q - k * p) / (k + 1),
        at_one=lambda n, s: 1 + 0 * n,
        at_minus_one=lambda n, s: s,
    ),
}


def _declare(name: str, family: Family) -> None:
    @kernel(f"special_{name}")
    @quietly
    def run(xp: Any, x: Any, n: Any) -> Any:
        result = _evaluate(xp, family, x, n)
        return alike(result, x) if result.shape == x.shape else result


for _name, _family in FAMILIES.items():
    _declare(_name, _family)

"""Rows of the orthogonal polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

from ..row import Row


def _half(of: Any) -> Any:
    """The third and fourth kind are ratios at half the angle."""
    return lambda n, x: of((n + 0.5) * np.arccos(x)) / of(np.arccos(x) / 2)


_REFERENCES = {
    "chebyshev_polynomial_t": sp.eval_chebyt, "chebyshev_polynomial_u": sp.eval_chebyu,
    "chebyshev_polynomial_v": _half(np.cos), "chebyshev_polynomial_w": _half(np.sin),
    "shifted_chebyshev_polynomial_t": sp.eval_sh_chebyt, "shifted_chebyshev_polynomial_u": sp.eval_sh_chebyu,
    "shifted_chebyshev_polynomial_v": lambda n, x: _half(np.cos)(n, 2 * x - 1),
    "shifted_chebyshev_polynomial_w": lambda n, x: _half(np.sin)(n, 2 * x - 1),
    "hermite_polynomial_h": sp.eval_hermite, "hermite_polynomial_he": sp.eval_hermitenorm,
    "laguerre_polynomial_l": sp.eval_laguerre, "legendre_polynomial_p": sp.eval_legendre,
}  # fmt: skip


def _row(name: str, ref: Any) -> Row:
    def inputs(rng: Any) -> Any:
        return [rng.uniform(0.05, 0.95, (12, 3)), np.arange(12.0).reshape(12, 1)]

    def call(t: Any, x: Any, n: Any, **kwargs: Any) -> Any:
        return getattr(t.special, name)(x, n, **kwargs)

    return Row(f"special_{name}", call, ref=lambda x, n: ref(n.astype(int), x), inputs=inputs, grad=(), out=True)


def _at_the_edges(name: str) -> Row:
    """The ends of the interval, outside of it, and degrees that are negative or high."""
    x = np.array([-3.0, -1.0, -0.3, 0.0, 0.4, 1.0, 1.5])
    n = np.array([-2.0, 0.0, 1.0, 2.0, 5.0, 7.0, 20.0, 33.0])[:, None]

    def call(t: Any, x: Any, n: Any) -> Any:
        return getattr(t.special, name)(x, n)

    return Row(f"special_{name}", call, inputs=lambda rng: [x.copy(), n.copy()], grad=(), label="edges")


ROWS = [*[_row(name, ref) for name, ref in _REFERENCES.items()], *[_at_the_edges(name) for name in _REFERENCES]]

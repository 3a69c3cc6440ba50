"""Rows of the gamma, Dirichlet and binomial draws, how they move with their parameters, incomplete gamma functions."""

from __future__ import annotations

import scipy.special

from ..row import Row
from .draws import seeded

SMALL = (0.1, 0.9)
POSITIVE = (0.2, 9.0)
EDGES = (((0,), (0,)), ((), ()), ((2, 3), (3,)))

ROWS = [
    Row("standard_gamma", seeded(lambda t, a: t._standard_gamma(a)), ((3, 4),), domain=POSITIVE, grad=(), second=False),
    Row("sample_dirichlet", seeded(lambda t, a: t._sample_dirichlet(a)), ((3, 4),), domain=POSITIVE, grad=(), second=False),
    Row("binomial", seeded(lambda t, p: t.binomial(t.round(p * 50), p)), ((3, 7),), domain=SMALL, grad=(), second=False),
    Row("standard_gamma_grad", lambda t, a, x: t._standard_gamma_grad(a, x), ((4, 5), (4, 5)), domain=POSITIVE, grad=(),
        second=False),
    Row("dirichlet_grad", lambda t, x, a: t._dirichlet_grad(x, a * 9, a * 9 + 2), ((4, 5), (4, 5)), domain=SMALL, grad=(),
        second=False),
    Row("gammainc", lambda t, a, x, **kw: t.igamma(a, x, **kw), ((3, 4), (3, 4)), ref=scipy.special.gammainc, domain=POSITIVE,
        grad=(1,), out=True, inplace=lambda t, a, x: a.igamma_(x), edge_shapes=EDGES),
    Row("gammaincc", lambda t, a, x, **kw: t.igammac(a, x, **kw), ((3, 4), (3, 4)), ref=scipy.special.gammaincc,
        domain=POSITIVE, grad=(1,), out=True, inplace=lambda t, a, x: a.igammac_(x), edge_shapes=EDGES),
]  # fmt: skip

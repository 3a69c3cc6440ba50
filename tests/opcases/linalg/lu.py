"""Triangular factors, exponentials, ranks, condition numbers, least squares and approximations of matrices."""

from __future__ import annotations

import warnings

import numpy as np

from ..row import Row

SQUARE = ((3, 3),)
COMPLEX = ("complex128", "complex64")


def _clear_pivots(*shape):
    """Matrices whose rows need exchanging, and for which small changes do not change that."""

    def draw(rng):
        x = rng.uniform(-0.5, 0.5, shape)
        for i in range(min(shape[-2:])):
            x[..., -1 - i, i] += 3 + i
        return [x]

    return draw


def _product(t, x):
    p, lower, upper = t.linalg.lu(x)
    return p, lower, upper


def _system(t, x, b, **options):
    return t.linalg.lu_solve(*t.linalg.lu_factor(x), b, **options)


def _exponential(x):
    total = term = np.broadcast_to(np.eye(x.shape[-1]), x.shape)
    for k in range(1, 60):
        term = term @ x / k
        total = total + term
    return total


def _approximated(way, *options):
    """What the factors of an approximation multiply to: they themselves are free in their signs."""

    def call(t, x):
        t.manual_seed(0)
        u, s, v = getattr(t, way)(x, *options)
        return (u * s.unsqueeze(-2)) @ v.mH

    return call


def _quiet(function):
    """A deprecated function, without the warning."""

    def call(t, x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(t, x)

    return call


ROWS = [
    Row("linalg_lu", _product, inputs=_clear_pivots(3, 3), dtypes=COMPLEX),
    Row("linalg_lu", _product, inputs=_clear_pivots(2, 4, 3), label="tall"),
    Row("linalg_lu", _product, inputs=_clear_pivots(2, 4), label="wide"),
    Row("linalg_lu_factor_ex", lambda t, x: t.linalg.lu_factor(x), inputs=_clear_pivots(2, 3, 3), dtypes=COMPLEX),
    Row("linalg_lu_factor_ex", lambda t, x: t.linalg.lu_factor_ex(x), inputs=_clear_pivots(4, 3), label="tall"),
    Row("lu_unpack", lambda t, x: t.lu_unpack(x, t.tensor([3, 3, 3], dtype=t.int32)), SQUARE, dtypes=COMPLEX),
    Row(
        "linalg_lu_solve", _system, inputs=lambda rng: [*_clear_pivots(3, 3)(rng), rng.standard_normal((3, 2))],
        ref=np.linalg.solve, dtypes=COMPLEX,
    ),
    Row(
        "linalg_lu_solve", lambda t, x, b: _system(t, x, b, left=False), label="right",
        inputs=lambda rng: [*_clear_pivots(3, 3)(rng), rng.standard_normal((2, 3))], ref=lambda x, b: b @ np.linalg.inv(x),
    ),
    Row(
        "linalg_lu_solve", lambda t, x, b: _system(t, x, b, adjoint=True), label="adjoint",
        inputs=lambda rng: [*_clear_pivots(3, 3)(rng), rng.standard_normal((3, 2))], ref=lambda x, b: np.linalg.inv(x).T @ b,
    ),
    Row("linalg_matrix_exp", lambda t, x: t.matrix_exp(x), SQUARE, _exponential, dtypes=COMPLEX, edge_shapes=(((2, 2, 2),), ((0, 0),))),
    Row("linalg_matrix_exp", lambda t, x: t.linalg.matrix_exp(x), SQUARE, _exponential, domain=(-5, 5), second=False, label="large"),
    Row("matrix_rank", lambda t, x, **k: t.linalg.matrix_rank(x, **k), ((2, 4, 3),), np.linalg.matrix_rank, grad=(), out=True),
    Row("cond", lambda t, x: t.linalg.cond(x), SQUARE, np.linalg.cond),
    Row("cond", lambda t, x, **k: t.linalg.cond(x, "fro", **k), SQUARE, lambda x: np.linalg.cond(x, "fro"), grad=(), out=True, label="fro"),
    Row("cond", lambda t, x: t.linalg.cond(x, 1), inputs=lambda rng: [np.ones((2, 2))], grad=(), label="singular"),
    Row("frobenius_norm", _quiet(lambda t, x: t.frobenius_norm(x, (0, 1))), SQUARE, np.linalg.norm),
    Row("nuclear_norm", _quiet(lambda t, x: t.nuclear_norm(x)), SQUARE, lambda x: np.linalg.norm(x, "nuc")),
    Row(
        "linalg_lstsq", lambda t, a, b: t.linalg.lstsq(a, b)[0], ((5, 3), (5, 2)),
        lambda a, b: np.linalg.lstsq(a, b)[0], dtypes=("complex128",),
    ),
    Row("linalg_lstsq", lambda t, a, b: t.linalg.lstsq(a, b, driver="gelsd")[:2], ((5, 3), (5, 2)), lambda a, b: np.linalg.lstsq(a, b)[:2], label="residuals"),
    Row("linalg_lstsq", lambda t, a, b: t.linalg.lstsq(a, b)[0], ((2, 4), (2,)), lambda a, b: np.linalg.lstsq(a, b)[0], label="wide"),
    Row("linalg_lstsq", lambda t, a, b: t.linalg.lstsq(a, b, rcond=0.9, driver="gels")[:2], ((5, 3), (5, 2)), lambda a, b: np.linalg.lstsq(a, b)[:2], label="rcond unused"),
    Row("svd_lowrank", _approximated("svd_lowrank", 3), ((3, 5),), lambda x: x),
    Row("pca_lowrank", _approximated("pca_lowrank"), ((5, 3),), lambda x: x - x.mean(0)),
]  # fmt: skip

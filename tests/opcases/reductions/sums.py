"""Sums, means, products, truth values, variances, norms, extremes and scans."""

from __future__ import annotations

import numpy as np

from ..row import Row, either

M = ((3, 4),)
EDGES = (((),), ((0, 3),), ((2, 1, 3),))
SOLID = (((),), ((2, 1, 3),))
INTS = ("int64", "int32", "uint8", "bool")
HALF = ("float16", "bfloat16")
COMPLEX = ("complex128", "complex64")


def _distinct(shape):
    """Inputs without ties, so that extremes are differentiable."""
    return lambda rng: [rng.permutation(int(np.prod(shape))).reshape(shape) * 0.5 - 2.0]


def _index_of(dim, n, shape):
    """A matrix and, for each slice along `dim`, a place in it."""
    return lambda rng: [rng.standard_normal(shape), rng.integers(0, n, np.delete(shape, dim))]


ROWS = [
    Row("sum_all", lambda t, x: t.sum(x), M, np.sum, out=False, dtypes=INTS + HALF + COMPLEX, edge_shapes=EDGES),
    Row("sum", lambda t, x, **k: t.sum(x, dim=1, **k), M, lambda x: x.sum(1), out=True, dtypes=INTS + HALF + COMPLEX),
    Row("sum", lambda t, x: x.sum((0, -1), keepdim=True), ((2, 3, 4),), lambda x: x.sum((0, 2), keepdims=True), label="dims"),
    Row("sum_to_size", lambda t, x: x.sum_to_size(3, 1), ((2, 3, 4),), lambda x: x.sum((0, 2))[:, None]),
    Row("sum_to_size", lambda t, x: x.sum_to_size((1, 4)), M, lambda x: x.sum(0, keepdims=True), label="same rank", dtypes=INTS),
    Row("nansum", lambda t, x: t.nansum(x, 0), M, lambda x: np.nansum(x, 0), edge_shapes=(((0, 3),),)),
    Row("mean_all", lambda t, x: x.mean(), M, np.mean, dtypes=HALF + COMPLEX, edge_shapes=SOLID),
    Row("mean", lambda t, x, **k: t.mean(x, 0, True, **k), M, lambda x: x.mean(0, keepdims=True), out=True, dtypes=HALF + COMPLEX),
    Row("nanmean", lambda t, x: t.nanmean(x, 1), M, lambda x: np.nanmean(x, 1)),
    Row("prod_all", lambda t, x: x.prod(), M, np.prod, dtypes=INTS + COMPLEX, edge_shapes=EDGES),
    Row("prod", lambda t, x, **k: t.prod(x, 1, **k), M, lambda x: x.prod(1), out=True, dtypes=INTS + COMPLEX),
    Row(
        "prod", lambda t, x: x.prod(0), ref=lambda x: x.prod(0), label="zeros",
        inputs=lambda rng: [np.where(rng.random((4, 3)) < 0.4, 0.0, rng.standard_normal((4, 3)))],
    ),
    Row("any", lambda t, x, **k: t.any(x, 1, **k), M, lambda x: x.any(1), grad=(), out=True, dtypes=INTS),
    Row("all", lambda t, x, **k: t.all(x, 1, **k), M, lambda x: x.all(1), grad=(), out=True, dtypes=INTS),
    Row("count_nonzero", lambda t, x: t.count_nonzero(x, 0), M, lambda x: np.count_nonzero(x, 0), grad=(), dtypes=INTS),
    Row("var", lambda t, x, **k: t.var(x, 1, **k), M, lambda x: x.var(1, ddof=1), out=True, dtypes=HALF + COMPLEX),
    Row("var", lambda t, x: x.var(correction=0), M, np.var, label="all"),
    Row("std", lambda t, x, **k: t.std(x, 0, keepdim=True, **k), M, lambda x: x.std(0, ddof=1, keepdims=True), out=True),
    Row("std", lambda t, x: x.std(unbiased=False), M, np.std, label="all"),
    Row("var_mean", lambda t, x: t.var_mean(x, 1), M, lambda x: (x.var(1, ddof=1), x.mean(1))),
    Row("std_mean", lambda t, x: t.std_mean(x, 1), M, lambda x: (x.std(1, ddof=1), x.mean(1))),
    Row("vector_norm", lambda t, x: x.norm(), M, np.linalg.norm, edge_shapes=SOLID),
    Row("vector_norm", lambda t, x: x.norm(1, 1), M, lambda x: np.linalg.norm(x, 1, 1), label="one"),
    Row("vector_norm", lambda t, x: x.norm(3, 1), M, lambda x: np.linalg.norm(x, 3, 1), label="three", domain=(0.2, 2.0)),
    Row("vector_norm", lambda t, x: x.norm(1.5, 1), M, lambda x: np.linalg.norm(x, 1.5, 1), label="between"),
    Row("vector_norm", lambda t, x: x.norm(0.5, 1), M, lambda x: np.linalg.norm(x, 0.5, 1), label="half", domain=(0.2, 2.0)),
    Row("vector_norm", lambda t, x: x.norm(float("inf"), 1), M, lambda x: np.linalg.norm(x, np.inf, 1), label="inf"),
    Row("vector_norm", lambda t, x: x.norm(0, 1), M, lambda x: np.linalg.norm(x, 0, 1), label="count", grad=()),
    Row("dist", lambda t, x, y: t.dist(x, y), M * 2, lambda x, y: np.linalg.norm(x - y)),
    # Extremes
    Row("max_all", lambda t, x: x.max(), inputs=_distinct((3, 4)), ref=np.max, dtypes=INTS + HALF),
    Row("min_all", lambda t, x: x.min(), inputs=_distinct((3, 4)), ref=np.min, dtypes=INTS + HALF),
    Row("max_dim", lambda t, x: t.max(x, 1), inputs=_distinct((3, 4)), ref=lambda x: (x.max(1), x.argmax(1)), dtypes=INTS),
    Row("min_dim", lambda t, x: t.min(x, 0), inputs=_distinct((3, 4)), ref=lambda x: (x.min(0), x.argmin(0)), dtypes=INTS),
    Row("amax", lambda t, x, **k: t.amax(x, (0, 2), **k), inputs=_distinct((2, 3, 4)), ref=lambda x: x.max((0, 2)), out=True),
    Row("amin", lambda t, x, **k: t.amin(x, 1, True, **k), inputs=_distinct((3, 4)), ref=lambda x: x.min(1, keepdims=True), out=True),
    Row("aminmax", lambda t, x: t.aminmax(x, dim=1), inputs=_distinct((3, 4)), ref=lambda x: (x.min(1), x.max(1))),
    Row("argmax", lambda t, x, **k: t.argmax(x, 1, **k), M, lambda x: x.argmax(1), grad=(), out=True, dtypes=("int64", "uint8")),
    Row("argmin", lambda t, x, **k: t.argmin(x, 1, **k), M, lambda x: x.argmin(1), grad=(), out=True, dtypes=("int64", "uint8")),
    # Scans
    Row(
        "cumsum", lambda t, x, **k: t.cumsum(x, 1, **k), M, lambda x: x.cumsum(1),
        inplace=lambda t, x: x.cumsum_(1), out=True, dtypes=INTS + COMPLEX, edge_shapes=(((0, 3),),),
    ),
    Row(
        "cumprod", lambda t, x, **k: t.cumprod(x, 0, **k), M, lambda x: x.cumprod(0),
        inplace=lambda t, x: x.cumprod_(0), out=True, dtypes=INTS + COMPLEX,
    ),
    Row(
        "cumprod", lambda t, x: x.cumprod(0), ref=lambda x: x.cumprod(0), label="zeros",
        inputs=lambda rng: [np.where(rng.random((5, 3)) < 0.4, 0.0, rng.standard_normal((5, 3)))],
    ),
    Row("logcumsumexp", lambda t, x, **k: t.logcumsumexp(x, 1, **k), M, lambda x: np.log(np.exp(x).cumsum(1)), out=True, dtypes=COMPLEX),
    Row("cummax", lambda t, x: t.cummax(x, 1), inputs=_distinct((3, 4)), dtypes=("int64",)),
    Row("cummin", lambda t, x: t.cummin(x, 0), inputs=_distinct((3, 4)), dtypes=("int64",)),
]  # fmt: skip


# Parts of gradients: their own derivatives are what second derivatives are made of.
ROWS += [
    Row(
        "shift", either("shift", (0, 1, 1.0), lambda t, x: t.cat([t.ones_like(x[:1]), x[:-1]])), M,
        lambda x: np.concatenate([np.ones_like(x[:1]), x[:-1]]),
    ),
    Row("divide_or_zero", either("divide_or_zero", (), lambda t, x, y: x / y), M * 2, lambda x, y: x / y, (0.5, 2.0)),
    Row(
        "away_from_zero", either("away_from_zero", (), lambda t, x, y, z: x * y), M * 3, lambda x, y, z: x * y, (0.5, 2.0),
        grad=(0, 1),
    ),
    Row("nan_where_zero", either("nan_where_zero", (), lambda t, x, y: x * (y != 0)), M * 2, lambda x, y: x, (0.5, 2.0), grad=(0,)),
    Row("zero_where", either("zero_where", (), lambda t, x, y: x * (y != 0)), M * 2, lambda x, y: x, (0.5, 2.0), grad=(0,)),
    Row(
        "reverse_cumsum", either("reverse_cumsum", (1,), lambda t, x: x.flip(1).cumsum(1).flip(1)), M,
        lambda x: x[:, ::-1].cumsum(1)[:, ::-1],
    ),
    Row(
        "tie_share", either("tie_share", ((1,),), lambda t, x, y: (x == y) * 1.0 / (x == y).sum(1, keepdim=True).to(x.dtype)),
        inputs=lambda rng: [np.array([[1.0, 2.0, 2.0]]), np.array([[2.0]])], grad=(),
        ref=lambda x, y: np.array([[0.0, 0.5, 0.5]]),
    ),
    Row(
        "pick_along", either("pick_along", (1, False), lambda t, x, i: t.gather(x, 1, i[:, None])[:, 0]), grad=(0,),
        inputs=_index_of(1, 4, (3, 4)), ref=lambda x, i: np.take_along_axis(x, i[:, None], 1)[:, 0],
    ),
    Row(
        "place_along",
        either("place_along", ((3, 4), 1, False), lambda t, g, i: t.zeros(3, 4, dtype=g.dtype).scatter(1, i[:, None], g[:, None])),
        inputs=lambda rng: [rng.standard_normal(3), rng.integers(0, 4, 3)], grad=(0,),
        ref=lambda g, i: (np.arange(4) == i[:, None]) * g[:, None],
    ),
    Row(
        "add_along", either("add_along", (1,), lambda t, g, i: t.zeros_like(g).scatter_add(1, i, g)), grad=(0,),
        inputs=lambda rng: [rng.standard_normal((3, 4)), rng.integers(0, 4, (3, 4))],
        ref=lambda g, i: ((np.arange(4)[:, None] == i[:, None, :]) * g[:, None, :]).sum(2),
    ),
]  # fmt: skip

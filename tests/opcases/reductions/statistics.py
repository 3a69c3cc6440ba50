"""Quantiles, covariances, differences, histograms, and what else is put together from other operations."""

from __future__ import annotations

import numpy as np

from ..row import Row

M = ((3, 4),)


def _distinct(shape):
    """Inputs without ties, so that quantiles are differentiable."""
    return lambda rng: [rng.permutation(int(np.prod(shape))).reshape(shape) * 0.5 - 2.0]


def _some_nan(rng):
    (x,) = _distinct((4, 5))(rng)
    x[1, 2] = x[3, 4] = np.nan
    return [x]


def _among(rng):
    return [rng.integers(0, 9, (3, 4)), rng.integers(0, 9, 4)]


def _filled(t, x):
    y = x.clone()
    y.fill_diagonal_(0.5, wrap=True)
    return y


def _filled_reference(x):
    y = x.copy()
    np.fill_diagonal(y, 0.5, wrap=True)
    return y


ROWS = [
    Row("hash_tensor", lambda t, x, **k: t.hash_tensor(x, 1, keepdim=True, **k), M, grad=(), out=True, dtypes=("int8", "bool", "float16")),
    Row("isin", lambda t, x, y, **k: t.isin(x, y, **k), inputs=_among, ref=np.isin, grad=(), out=True, dtypes=("int32", "uint8")),
    Row("isin", lambda t, x: t.isin(x, 3, invert=True), inputs=lambda rng: _among(rng)[:1], ref=lambda x: x != 3, grad=(), label="not"),
    Row("frexp", lambda t, x: t.frexp(x), M, np.frexp, domain=(0.6, 0.9), second=False, dtypes=("float16",)),
    Row("fill_diagonal_", _filled, ((7, 3),), _filled_reference, dtypes=("int64",)),
    Row(
        "quantile", lambda t, x, **k: t.quantile(x, 0.3, 1, **k), inputs=_distinct((3, 4)),
        ref=lambda x: np.quantile(x, 0.3, axis=1), out=True,
    ),
    *[
        Row(
            "quantile", lambda t, x, way=way: x.quantile(t.tensor([0.1, 0.6], dtype=x.dtype), 0, True, interpolation=way),
            inputs=_distinct((3, 4)), ref=lambda x, way=way: np.quantile(x, [0.1, 0.6], axis=0, keepdims=True, method=way), label=way,
        )
        for way in ("linear", "lower", "higher", "midpoint", "nearest")
    ],
    Row(
        "nanquantile", lambda t, x, **k: t.nanquantile(x, 0.7, 0, **k), inputs=_some_nan,
        ref=lambda x: np.nanquantile(x, 0.7, axis=0), grad=(), out=True,
    ),
    Row("cov", lambda t, x: t.cov(x), M, np.cov, dtypes=("int64", "complex128")),
    Row(
        "cov", lambda t, x, w: t.cov(x, correction=0, fweights=t.tensor([1, 2, 1, 3]), aweights=w),
        (*M, (4,)), lambda x, w: np.cov(x, ddof=0, fweights=[1, 2, 1, 3], aweights=w), domain=(0.5, 2.0), label="weights",
    ),
    Row("corrcoef", lambda t, x: t.corrcoef(x), M, np.corrcoef, dtypes=("complex128",)),
    Row("gradient", lambda t, x: t.gradient(x), M, lambda x: tuple(np.gradient(x)), dtypes=("int64",)),
    Row(
        "gradient", lambda t, x, p: t.gradient(x, spacing=(p.cumsum(0),), dim=1, edge_order=2)[0],
        (*M, (4,)), lambda x, p: np.gradient(x, p.cumsum(), axis=1, edge_order=2), domain=((-2, 2), (0.5, 1)), label="places",
    ),
    Row("vander", lambda t, x: t.vander(x, 3), ((4,),), lambda x: np.vander(x, 3), grad=(), dtypes=("int32", "complex64")),
    Row("vander", lambda t, x: t.linalg.vander(x), ((2, 4),), lambda x: x[..., None] ** np.arange(4), label="batches"),
    Row(
        "histogramdd", lambda t, x: t.histogram(x, 4, range=(-1.0, 1.5)), ((20,),),
        lambda x: np.histogram(x, 4, range=(-1.0, 1.5)), grad=(), label="one dimension",
    ),
    Row(
        "histogramdd", lambda t, x, w: t.histogram(x, 3, weight=w, density=True)[0], ((20,), (20,)),
        lambda x, w: np.histogram(x, 3, weights=w, density=True)[0], grad=(), label="density",
    ),
    Row(
        "histogramdd", lambda t, x: t.histogramdd(x, [2, 3])[0], ((20, 2),), lambda x: np.histogramdd(x, [2, 3])[0], grad=(),
    ),
    Row(
        "unravel_index", lambda t, x: t.unravel_index(x, (3, 2, 4)), inputs=lambda rng: [rng.integers(0, 24, (2, 5))],
        ref=lambda x: np.unravel_index(x, (3, 2, 4)), grad=(),
    ),
    Row(
        "nonzero_static", lambda t, x, **k: t.nonzero_static(x, size=5, **k), inputs=lambda rng: [np.eye(3)],
        ref=lambda x: np.array([[0, 0], [1, 1], [2, 2], [-1, -1], [-1, -1]]), grad=(), out=True,
    ),
]  # fmt: skip

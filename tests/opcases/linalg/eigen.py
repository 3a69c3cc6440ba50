"""Rows of eigenvalues, factors in packed form, and systems of tensors."""

from __future__ import annotations

import numpy as np

from ..row import Row

COMPLEX = ("complex128",)


def _apart(*shape):
    """Matrices whose eigenvalues are well apart."""

    def draw(rng):
        n = shape[-1]
        return [rng.uniform(-0.3, 0.3, shape) + np.diag(np.arange(1.0, n + 1))]

    return draw


def _projected(t, x):
    """What eigenvectors span, which does not depend on their phases."""
    values, vectors = t.linalg.eig(x)
    return values, vectors.abs()


def _symmetric(t, x):
    return t.linalg.eigh(x)[1].abs()


def _packed(rng):
    """Reflections, each of the length that makes it orthogonal."""
    packed = rng.uniform(-0.5, 0.5, (2, 4, 3))
    return [packed, 2 / ((np.tril(packed, -1) + np.eye(4, 3)) ** 2).sum(-2)]


def _product(packed, lengths):
    """The reflections 1 - tau v v^H, one after the other."""
    rows, columns = packed.shape[-2:]
    made = np.broadcast_to(np.eye(rows, columns), packed.shape)
    for i in reversed(range(columns)):
        v = (np.tril(packed, -1) + np.eye(rows, columns))[..., i : i + 1]
        made = made - lengths[..., i, None, None] * v @ (v.conj().swapaxes(-1, -2) @ made)
    return made


def _ldl(t, x):
    x = x + x.mT
    factors, pivots = t.linalg.ldl_factor(x)
    return factors, pivots, t.linalg.ldl_solve(factors, pivots, x @ t.ones_like(x))


def _tensor_system(rng):
    return [rng.standard_normal((2, 3, 6)) + 3 * np.eye(6).reshape(2, 3, 6), rng.standard_normal((2, 3))]


ROWS = [
    Row("linalg_eig", _projected, inputs=_apart(3, 3), dtypes=COMPLEX),
    Row("linalg_eig", lambda t, x: t.linalg.eigvals(x).abs(), inputs=_apart(2, 3, 3), label="values"),
    Row("linalg_eigvals", lambda t, x: t.linalg.eigvals(x).abs(), inputs=_apart(2, 3, 3), grad=(), dtypes=COMPLEX),
    Row("linalg_eigvalsh", lambda t, x: t.linalg.eigvalsh(x + x.mH), inputs=_apart(2, 3, 3), grad=(), dtypes=COMPLEX),
    Row("linalg_svdvals", lambda t, x: t.linalg.svdvals(x), ((2, 3, 4),), lambda x: np.linalg.svd(x, compute_uv=False), grad=(), dtypes=COMPLEX),
    Row("linalg_eigh", _symmetric, inputs=_apart(3, 3), numeric=False, dtypes=COMPLEX, label="asymmetric"),
    Row("householder_product", lambda t, a, tau: t.linalg.householder_product(a, tau), inputs=_packed, ref=_product, dtypes=COMPLEX),
    Row("householder_product", lambda t, a, tau: t.orgqr(a, tau), ((0, 0), (0,)), label="empty", grad=()),
    Row("ormqr", lambda t, a, tau, b: t.ormqr(a, tau, b), inputs=lambda rng: [*_packed(rng), rng.standard_normal((2, 4, 2))], dtypes=COMPLEX),
    Row("ormqr", lambda t, a, tau, b: t.ormqr(a, tau, b, left=False, transpose=True), inputs=lambda rng: [*_packed(rng), rng.standard_normal((2, 2, 4))], dtypes=COMPLEX, label="right"),
    Row("geqrf", lambda t, x, **k: t.geqrf(x), ((2, 4, 3),), grad=(), dtypes=COMPLEX),
    Row("linalg_ldl_factor_ex", lambda t, x: t.linalg.ldl_factor_ex(x + x.mT), ((2, 3, 3),), grad=()),
    Row("linalg_ldl_solve", _ldl, ((2, 3, 3),), grad=(), dtypes=COMPLEX),
    Row("tensorinv", lambda t, x: t.linalg.tensorinv(x), inputs=lambda rng: _tensor_system(rng)[:1], ref=np.linalg.tensorinv),
    Row("tensorsolve", lambda t, a, b: t.linalg.tensorsolve(a, b), inputs=_tensor_system, ref=np.linalg.tensorsolve),
    Row("linalg_det", lambda t, x: t.linalg.det(x), ((2, 1, 1),), lambda x: x[..., 0, 0], label="1x1"),
]  # fmt: skip

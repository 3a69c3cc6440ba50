"""Matrix products, einsum, distances and linear algebra."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..row import Row, either

INTS = ("int64", "int32", "uint8")
COMPLEX = ("complex128", "complex64")


def _spd(rng):
    """A symmetric positive-definite matrix with well separated eigenvalues."""
    a = rng.standard_normal((4, 4))
    return [a @ a.T + np.diag([1.0, 3.0, 6.0, 10.0])]


def _systems(rows=4, high=4, wide=2):
    """A matrix whose triangles are far from singular, and a right side (or one that stands left)."""

    def draw(rng):
        return [rng.standard_normal((rows, rows)) + 4 * np.eye(rows), rng.standard_normal((high, wide))]

    return draw


def _triangular(**options):
    return lambda t, a, b, **k: t.linalg.solve_triangular(a, b, **options, **k)


def _by_scipy(lower, **options):
    return lambda a, b: scipy.linalg.solve_triangular(a, b, lower=lower, **options)


def _from_factor(b, a):
    return np.linalg.solve(np.tril(a) @ np.tril(a).conj().T, b)


def _sym(x):
    return 0.5 * (x + x.mT)


def _linear(t):
    return t.nn.functional.linear


ROWS = [
    Row("mm", lambda t, x, y, **k: t.mm(x, y, **k), ((3, 4), (4, 2)), np.matmul, out=True, dtypes=INTS + COMPLEX),
    Row("mm", lambda t, x, y: x @ y, ((3, 4), (4, 2)), np.matmul, label="operator", edge_shapes=(((0, 4), (4, 2)), ((3, 0), (0, 2)))),
    Row("bmm", lambda t, x, y, **k: t.bmm(x, y, **k), ((2, 3, 4), (2, 4, 2)), np.matmul, out=True, dtypes=INTS + COMPLEX),
    Row("matmul", lambda t, x, y, **k: t.matmul(x, y, **k), ((2, 1, 3, 4), (5, 4, 2)), np.matmul, out=True),
    Row("matmul", lambda t, x, y: x @ y, ((3, 4), (5, 4, 2)), np.matmul, label="left matrix"),
    Row("matmul", lambda t, x, y: x @ y, ((4,), (5, 4, 2)), np.matmul, label="left vector"),
    Row("fold_mm", lambda t, x, y: x @ y, ((2, 3, 4), (4, 2)), np.matmul, edge_shapes=(((0, 3, 4), (4, 2)),)),
    Row("fold_mm", lambda t, x, y: x @ y, ((2, 3, 4), (4,)), np.matmul, label="vector"),
    Row("mv", lambda t, x, y, **k: t.mv(x, y, **k), ((3, 4), (4,)), np.matmul, out=True),
    Row("vecmat", lambda t, x, y: x @ y, ((3,), (3, 4)), np.matmul),
    Row("dot", lambda t, x, y, **k: t.dot(x, y, **k), ((4,), (4,)), np.dot, out=True, dtypes=INTS + COMPLEX),
    Row("vdot", lambda t, x, y, **k: t.vdot(x, y, **k), ((4,), (4,)), np.vdot, out=True, dtypes=COMPLEX),
    Row("outer", lambda t, x, y, **k: t.outer(x, y, **k), ((3,), (4,)), np.outer, out=True, dtypes=INTS),
    Row("inner", lambda t, x, y: t.inner(x, y), ((2, 3), (4, 3)), np.inner),
    Row("linear", lambda t, x, w, b: _linear(t)(x, w, b), ((5, 3), (2, 3), (2,)), lambda x, w, b: x @ w.T + b, dtypes=("float16",)),
    Row("linear_rows", lambda t, x, w, b: _linear(t)(x, w, b), ((2, 5, 3), (2, 3), (2,)), lambda x, w, b: x @ w.T + b),
    Row("mm_nt", lambda t, x, w: _linear(t)(x, w), ((5, 3), (2, 3)), lambda x, w: x @ w.T),
    Row("fold_nt", lambda t, x, w: _linear(t)(x, w), ((2, 5, 3), (2, 3)), lambda x, w: x @ w.T),
    Row(
        "addmm", lambda t, x, a, b, **k: t.addmm(x, a, b, beta=0.5, alpha=2.0, **k), ((3, 2), (3, 4), (4, 2)),
        lambda x, a, b: 0.5 * x + 2 * a @ b, inplace=lambda t, x, a, b: x.addmm_(a, b, beta=0.5, alpha=2.0), out=True,
        edge_shapes=(((2,), (3, 4), (4, 2)), ((), (3, 4), (4, 2))),
    ),
    Row(
        "addmv", lambda t, x, a, b, **k: t.addmv(x, a, b, beta=0.5, alpha=2.0, **k), ((3,), (3, 4), (4,)),
        lambda x, a, b: 0.5 * x + 2 * a @ b, inplace=lambda t, x, a, b: x.addmv_(a, b, beta=0.5, alpha=2.0), out=True,
    ),
    Row(
        "addr", lambda t, x, a, b, **k: t.addr(x, a, b, beta=0.5, alpha=2.0, **k), ((3, 4), (3,), (4,)),
        lambda x, a, b: 0.5 * x + 2 * np.outer(a, b), inplace=lambda t, x, a, b: x.addr_(a, b, beta=0.5, alpha=2.0), out=True,
    ),
    Row(
        "baddbmm", lambda t, x, a, b, **k: t.baddbmm(x, a, b, beta=0.5, alpha=2.0, **k), ((2, 3, 2), (2, 3, 4), (2, 4, 2)),
        lambda x, a, b: 0.5 * x + 2 * a @ b, inplace=lambda t, x, a, b: x.baddbmm_(a, b, beta=0.5, alpha=2.0), out=True,
    ),
    Row(
        "addbmm", lambda t, x, a, b, **k: t.addbmm(x, a, b, beta=0.5, alpha=2.0, **k), ((3, 2), (2, 3, 4), (2, 4, 2)),
        lambda x, a, b: 0.5 * x + 2 * (a @ b).sum(0), inplace=lambda t, x, a, b: x.addbmm_(a, b, beta=0.5, alpha=2.0), out=True,
    ),
    # Sums by labels
    Row("contract", lambda t, x, y: t.einsum("bij,bkj->kbi", x, y), ((2, 3, 4), (2, 5, 4)), lambda x, y: np.einsum("bij,bkj->kbi", x, y)),
    Row("contract", lambda t, x, y: t.tensordot(x, y, ([0, 2], [1, 0])), ((2, 3, 4), (4, 2)), lambda x, y: np.tensordot(x, y, ([0, 2], [1, 0])), label="tensordot"),
    Row("contract", lambda t, x, y: t.tensordot(x, y, 2), ((2, 3), (2, 3)), lambda x, y: np.tensordot(x, y, 2), label="tensordot to a number"),
    Row("einsum", lambda t, x, y, z: t.einsum("...i,kij,...j->...k", x, y, z), ((2, 3), (4, 3, 5), (2, 5)), lambda x, y, z: np.einsum("...i,kij,...j->...k", x, y, z), label="three"),
    Row("einsum", lambda t, x: t.einsum("iij->j", x), ((3, 3, 2),), lambda x: np.einsum("iij->j", x), label="diagonal"),
    Row("einsum", lambda t, x, y: t.einsum("i,j", x, y), ((3,), (2,)), np.outer, label="outer"),
    Row("einsum", lambda t, x, y: t.einsum(x, [0, 1], y, [1, 2], [2, 0]), ((2, 3), (3, 4)), lambda x, y: (x @ y).T, label="sublists"),
    Row("bilinear", lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b), ((5, 3), (5, 4), (2, 3, 4), (2,)), lambda x, y, w, b: np.einsum("bi,kij,bj->bk", x, w, y) + b),
    # Distances, differences, integrals, chains
    Row("cross", lambda t, x, y, **k: t.cross(x, y, 1, **k), ((2, 3), (2, 3)), np.cross, out=True),
    Row("cdist", lambda t, x, y: t.cdist(x, y), ((3, 2), (4, 2)), lambda x, y: np.linalg.norm(x[:, None] - y, axis=-1)),
    Row("euclidean_dist", lambda t, x, y: t.cdist(x, y, compute_mode="use_mm_for_euclid_dist"), ((3, 2), (2, 4, 2)), lambda x, y: np.linalg.norm(x[:, None] - y[..., None, :, :], axis=-1)),
    Row("cdist", lambda t, x, y: t.cdist(x, y, 1.0), ((2, 3, 2), (2, 4, 2)), lambda x, y: np.abs(x[:, :, None] - y[:, None]).sum(-1), label="one"),
    Row("diff", lambda t, x: t.diff(x, 2, 0), ((5, 3),), lambda x: np.diff(x, 2, 0)),
    Row("trapezoid", lambda t, y, x: t.trapezoid(y, x), ((3, 4), (4,)), lambda y, x: np.trapezoid(y, x)),
    Row("cumulative_trapezoid", lambda t, y: t.cumulative_trapezoid(y, dx=0.5), ((3, 4),), lambda y: ((y[:, 1:] + y[:, :-1]) / 4).cumsum(1)),
    Row("chain_matmul", lambda t, *m: t.chain_matmul(*m), ((2, 3), (3, 4), (4, 2)), lambda a, b, c: a @ b @ c),
    Row("multi_dot", lambda t, *m: t.linalg.multi_dot(m), ((3,), (3, 4), (4, 2)), lambda a, b, c: a @ b @ c),
    # Linear algebra
    Row("linalg_inv", lambda t, x: t.linalg.inv(x), inputs=_spd, ref=np.linalg.inv),
    Row("linalg_det", lambda t, x: t.linalg.det(x), inputs=_spd, ref=np.linalg.det),
    Row("linalg_slogdet", lambda t, x: t.linalg.slogdet(x)[1], inputs=_spd, ref=lambda x: np.linalg.slogdet(x)[1]),
    Row("linalg_solve", lambda t, x, b: t.linalg.solve(x, b), inputs=lambda rng: [*_spd(rng), rng.standard_normal((4, 2))], ref=np.linalg.solve),
    Row("linalg_solve_triangular", _triangular(upper=True), inputs=_systems(), ref=_by_scipy(False), out=True,
        dtypes=COMPLEX),
    Row("linalg_solve_triangular", _triangular(upper=False, left=False, unitriangular=True), inputs=_systems(4, 2, 4),
        ref=lambda a, b: _by_scipy(False, unit_diagonal=True)(a.T, b.T).T, label="right"),
    Row("linalg_solve_triangular", _triangular(upper=False), inputs=_systems(20, 20, 3), ref=_by_scipy(True), label="large"),
    Row("cholesky_solve", lambda t, b, a, **k: t.cholesky_solve(b, a.tril(), **k), ref=_from_factor, out=True,
        inputs=lambda rng: _systems()(rng)[::-1], dtypes=COMPLEX),
    Row("cholesky_solve", lambda t, b, a: t.cholesky_solve(b, a.triu(), True), inputs=lambda rng: _systems()(rng)[::-1],
        ref=lambda b, a: _from_factor(b, a.T), label="upper"),
    Row("cholesky_inverse", lambda t, a, **k: t.cholesky_inverse(a.tril(), **k), inputs=lambda rng: _systems()(rng)[:1],
        ref=lambda a: _from_factor(np.eye(4), a), out=True),
    Row("linalg_cholesky", lambda t, x: t.linalg.cholesky(_sym(x)), inputs=_spd, ref=np.linalg.cholesky),
    Row("linalg_qr", lambda t, x: t.linalg.qr(x), ((4, 3),), lambda x: tuple(np.linalg.qr(x))),
    Row("linalg_qr", lambda t, x: t.linalg.qr(x), ((3, 4),), lambda x: tuple(np.linalg.qr(x)), label="wide"),
    Row("linalg_eigh", lambda t, x: t.linalg.eigh(_sym(x))[0], inputs=_spd, ref=lambda x: np.linalg.eigvalsh(x)),
    Row("linalg_svd", lambda t, x: t.linalg.svd(x, False)[1], inputs=_spd, ref=lambda x: np.linalg.svd(x)[1]),
    Row("linalg_pinv", lambda t, x: t.linalg.pinv(x), ((4, 3),), np.linalg.pinv),
    Row("matrix_power", lambda t, x: t.linalg.matrix_power(x, 3), ((3, 3),), lambda x: x @ x @ x),
    Row("matrix_norm", lambda t, x: t.linalg.matrix_norm(x, "nuc"), ((4, 3),), lambda x: np.linalg.norm(x, "nuc")),
    # Parts of gradients
    Row("fold_tn", either("fold_tn", (), lambda t, x, y: x.T @ y), ((5, 3), (5, 2)), lambda x, y: x.T @ y),
    Row("matmul_nt", either("matmul_nt", (), lambda t, x, y: x @ y.mT), ((2, 5, 3), (2, 4, 3)), lambda x, y: x @ y.mT),
    Row("matmul_tn", either("matmul_tn", (), lambda t, x, y: x.mT @ y), ((2, 5, 3), (2, 5, 4)), lambda x, y: x.mT @ y),
    Row("sum_rows", either("sum_rows", (), lambda t, x: x.sum((0, 1))), ((2, 5, 3),), lambda x: x.sum((0, 1))),
    Row("identity_for", either("identity_for", (), lambda t, x: t.eye(2, dtype=x.dtype)), ((3, 2),), lambda x: np.eye(2), grad=()),
]  # fmt: skip

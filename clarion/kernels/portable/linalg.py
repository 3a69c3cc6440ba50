"""Decompositions and inverses of (batches of) matrices, by LAPACK."""

from __future__ import annotations

from typing import Any

from ..quiet import quietly
from ..registry import kernel


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


@kernel("linalg_inv")
def linalg_inv(xp: Any, x: Any) -> Any:
    return xp.linalg.inv(x)


@kernel("linalg_det")
def linalg_det(xp: Any, x: Any) -> Any:
    return xp.linalg.det(x)


@kernel("linalg_slogdet")
@quietly
def linalg_slogdet(xp: Any, x: Any) -> Any:
    sign, logabsdet = xp.linalg.slogdet(x)
    return sign, logabsdet


@kernel("linalg_solve")
def linalg_solve(xp: Any, a: Any, b: Any) -> Any:
    return xp.linalg.solve(a, b)


@kernel("linalg_cholesky")
def linalg_cholesky(xp: Any, x: Any) -> Any:
    lower = xp.tril(x)
    return xp.linalg.cholesky(lower + adjoint(xp.tril(x, -1)))


@kernel("linalg_qr")
def linalg_qr(xp: Any, x: Any, mode: str) -> Any:
    if mode == "r":
        r = xp.linalg.qr(x, mode="r")
        return xp.empty((0,), x.dtype), r
    q, r = xp.linalg.qr(x, mode=mode)
    return q, r


@kernel("linalg_eigh")
def linalg_eigh(xp: Any, x: Any, uplo: str) -> Any:
    values, vectors = xp.linalg.eigh(x, UPLO=uplo)
    return values, vectors


@kernel("linalg_svd")
def linalg_svd(xp: Any, x: Any, full_matrices: bool, phases: bool) -> Any:
    u, s, vh = xp.linalg.svd(x, full_matrices=full_matrices)
    return u, s, vh


@kernel("linalg_pinv")
def linalg_pinv(xp: Any, x: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if x.size == 0:
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    u, s, vh = xp.linalg.svd(x, full_matrices=False, hermitian=hermitian)
    limit = s.max(axis=-1, keepdims=True) * rtol
    if atol is not None:
        limit = xp.maximum(limit, atol)
    s = xp.where(s > limit, 1 / xp.where(s > limit, s, 1), 0).astype(s.dtype)
    return adjoint(vh) @ (s[..., :, None] * adjoint(u))


@kernel("identity_for")
def identity_for(xp: Any, x: Any) -> Any:
    """The identity matrix with as many rows as `x` has elements in its last dimension."""
    return xp.eye(x.shape[-1], dtype=x.dtype)

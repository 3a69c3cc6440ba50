"""Decompositions and inverses of (batches of) matrices, by LAPACK."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ....errors import LinAlgError
from ... import blas, lapack
from ...layout import columns, in_columns, strided
from ...quiet import quietly
from ...registry import kernel
from ...threads import for_blas


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


def _not_numbers(xp: Any, x: Any) -> Any:
    """Which matrices have a NaN among their elements; None if none has. (LAPACK may take a pivot that is NaN for zero.)"""
    found = numpy.isnan(x).any((-2, -1)) if xp is numpy else None
    return found if found is not None and found.any() else None


def _or_nan(xp: Any, solve: Any, x: Any) -> Any:
    """What is solved by a matrix; NaN where an element of it is."""
    try:
        return solve(x)
    except numpy.linalg.LinAlgError:
        lost = _not_numbers(xp, x)
        if lost is None:
            raise
        found = solve(xp.where(lost[..., None, None], xp.eye(x.shape[-1], dtype=x.dtype), x))
        return xp.where(lost[..., None, None], xp.asarray(xp.nan, found.dtype), found)


@kernel("linalg_inv")
@for_blas
@in_columns
def linalg_inv(xp: Any, x: Any) -> Any:
    return _or_nan(xp, lapack.of(xp).inv, x)


@kernel("linalg_det")
@for_blas
def linalg_det(xp: Any, x: Any) -> Any:
    found = lapack.of(xp).det(x)
    if xp is numpy and not found.all():
        lost = _not_numbers(xp, x)
        found = found if lost is None else xp.where(lost, xp.asarray(xp.nan, found.dtype), found)
    return found


@kernel("linalg_slogdet")
@for_blas
@quietly
def linalg_slogdet(xp: Any, x: Any) -> Any:
    sign, logabsdet = lapack.of(xp).slogdet(x)
    if xp is numpy and not sign.all():
        lost = _not_numbers(xp, x)
        logabsdet = logabsdet if lost is None else xp.where(lost, xp.asarray(xp.nan, logabsdet.dtype), logabsdet)
    # The sign of NaN is 0, and among complex numbers NaN.
    return xp.where(xp.isnan(logabsdet), sign * (xp.nan if sign.dtype.kind == "c" else 0), sign), logabsdet


@kernel("linalg_solve")
@for_blas
@in_columns
def linalg_solve(xp: Any, a: Any, b: Any) -> Any:
    return _or_nan(xp, lambda a: lapack.of(xp).solve(a, b), a)


@kernel("linalg_cholesky")
@for_blas
@in_columns
def linalg_cholesky(xp: Any, x: Any, upper: bool) -> Any:
    if xp is numpy:  # which reads one triangle
        factor = lapack.of(xp).cholesky(adjoint(x) if upper else x)
    else:
        other = xp.triu(x, 1) if upper else adjoint(xp.tril(x, -1))
        factor = xp.linalg.cholesky((adjoint(xp.triu(x)) if upper else xp.tril(x)) + other)
    # NaN is not positive; where a pivot is NaN, so is every later one.
    if xp is numpy and x.size and numpy.isnan(factor[..., -1, -1]).any():
        raise numpy.linalg.LinAlgError("a pivot is NaN")
    return adjoint(factor) if upper else factor


@kernel("linalg_qr")
@for_blas
@in_columns
def linalg_qr(xp: Any, x: Any, mode: str) -> Any:
    if mode == "r":
        r = lapack.of(xp).qr(x, mode="r")
        return xp.empty((0,), x.dtype), r
    q, r = lapack.of(xp).qr(x, mode=mode)
    return q, r


@kernel("linalg_eigh")
@for_blas
def linalg_eigh(xp: Any, x: Any, uplo: str) -> Any:
    values, vectors = lapack.of(xp).eigh(x, UPLO=uplo)
    return values, columns(vectors)


def singular(xp: Any, x: Any, full_matrices: bool = False, vectors: bool = True) -> Any:
    """The array library's singular value decomposition; where it finds none, PyTorch's words for that."""
    try:
        return lapack.of(xp).svd(x, full_matrices=full_matrices, compute_uv=vectors)
    except numpy.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        ) from None


@kernel("linalg_svd")
@for_blas
def linalg_svd(xp: Any, x: Any, full_matrices: bool, phases: bool) -> Any:
    u, s, vh = singular(xp, x, full_matrices)
    return columns(u), s, columns(vh)


@kernel("linalg_svdvals")
@for_blas
def linalg_svdvals(xp: Any, x: Any) -> Any:
    return singular(xp, x, vectors=False)


@kernel("linalg_eigvalsh")
@for_blas
def linalg_eigvalsh(xp: Any, x: Any, uplo: str) -> Any:
    return lapack.of(xp).eigvalsh(x, UPLO=uplo)


@kernel("linalg_pinv")
@for_blas
def linalg_pinv(xp: Any, x: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if x.size == 0:
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        s, u = lapack.of(xp).eigh(x)
        vh = xp.sign(s)[..., :, None] * adjoint(u)
        s = xp.abs(s)
    else:
        u, s, vh = singular(xp, x)
    limit = s.max(axis=-1, keepdims=True) * rtol
    if atol is not None:
        limit = xp.maximum(limit, atol)
    s = xp.where(s > limit, 1 / xp.where(s > limit, s, 1), 0).astype(s.dtype)
    return adjoint(vh) @ (s[..., :, None] * adjoint(u))


@kernel("identity_for")
def identity_for(xp: Any, x: Any) -> Any:
    """The identity matrix with as many rows as `x` has elements in its last dimension."""
    return xp.eye(x.shape[-1], dtype=x.dtype)


FEW_ROWS = 16


@kernel("linalg_solve_triangular")
@for_blas
@in_columns
@quietly
def linalg_solve_triangular(xp: Any, a: Any, b: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    """x with a x = b (or x a = b), reading one triangle of a, or of it only what is off the diagonal."""
    if not left:
        turned = linalg_solve_triangular(xp, a.swapaxes(-1, -2), b.swapaxes(-1, -2), not upper, True, unitriangular)
        out = turned.swapaxes(-1, -2)
        if xp is not numpy or 1 not in out.shape[-2:]:
            return out
        # One column, or one row: its strides are those of columns, too.
        return strided(out, out.shape, (*out.strides[:-2], out.itemsize, out.shape[-2] * out.itemsize))
    n = a.shape[-1]
    many = n <= FEW_ROWS and a.ndim > 2 and math.prod(a.shape[:-2]) >= n * n
    found = blas.solve_triangular(a, b, upper, unitriangular) if xp is numpy and not many else None
    if found is not None:
        return found
    if many:
        return _row_by_row_of_many(xp, a, b, upper, unitriangular)
    if n <= FEW_ROWS:
        return _row_by_row(xp, a, b, upper, unitriangular)
    half = n // 2
    solved, rest = (slice(half, n), slice(half)) if upper else (slice(half), slice(half, n))
    first = linalg_solve_triangular(xp, a[..., solved, solved], b[..., solved, :], upper, True, unitriangular)
    known = b[..., rest, :] - a[..., rest, solved] @ first
    second = linalg_solve_triangular(xp, a[..., rest, rest], known, upper, True, unitriangular)
    return xp.concatenate((second, first) if upper else (first, second), axis=-2)


def _row_by_row(xp: Any, a: Any, b: Any, upper: bool, unitriangular: bool) -> Any:
    n = a.shape[-1]
    batch = xp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = xp.empty((*batch, *b.shape[-2:]), b.dtype)
    for i in reversed(range(n)) if upper else range(n):
        done = slice(i + 1, n) if upper else slice(i)
        row = b[..., i, :] - (a[..., i : i + 1, done] @ x[..., done, :])[..., 0, :]
        x[..., i, :] = row if unitriangular else row / a[..., i, i, None]
    return x


def _row_by_row_of_many(xp: Any, a: Any, b: Any, upper: bool, unitriangular: bool) -> Any:
    """The same for many matrices, all of them at each step."""
    n = a.shape[-1]
    x = xp.array(xp.broadcast_to(b, (*xp.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:])), order="C")
    for i in reversed(range(n)) if upper else range(n):
        if not unitriangular:
            x[..., i, :] /= a[..., i, i, None]
        for j in range(i) if upper else range(i + 1, n):
            x[..., j, :] -= a[..., j, i, None] * x[..., i, :]
    return x


@kernel("cholesky_solve")
@in_columns
def cholesky_solve(xp: Any, b: Any, factor: Any, upper: bool) -> Any:
    """The solution with factor factor^H (or factor^H factor) as the matrix."""
    first, second = (adjoint(factor), factor) if upper else (factor, adjoint(factor))
    half = linalg_solve_triangular(xp, first, b, False, True, False)
    return linalg_solve_triangular(xp, second, half, True, True, False)


@kernel("cholesky_inverse")
@in_columns
def cholesky_inverse(xp: Any, factor: Any, upper: bool) -> Any:
    return cholesky_solve(xp, xp.eye(factor.shape[-1], dtype=factor.dtype), factor, upper)

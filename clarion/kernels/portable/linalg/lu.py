"""Triangular factors of (batches of) matrices, by Gaussian elimination; exponentials of matrices; least squares."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ... import lapack
from ...layout import in_columns
from ...quiet import quietly
from ...registry import kernel
from .decompositions import adjoint, linalg_solve_triangular, singular


@kernel("linalg_lu_factor_ex")
@in_columns
@quietly
def linalg_lu_factor_ex(xp: Any, x: Any) -> Any:
    """Both factors in one matrix, and with which row (counted from 1) each was exchanged, as LAPACK's getrf."""
    m, n = x.shape[-2:]
    count = min(m, n)
    lu = xp.array(x.reshape(math.prod(x.shape[:-2]), m, n), order="C", copy=True)
    pivots = xp.empty((lu.shape[0], count), xp.int32)
    each = xp.arange(lu.shape[0])
    for k in range(count):
        below = lu[:, k:, k]
        size = abs(below.real) + abs(below.imag) if lu.dtype.kind == "c" else abs(below)
        chosen = size.argmax(axis=1) + k
        pivots[:, k] = chosen + 1
        top = lu[each, chosen]
        lu[each, chosen] = lu[:, k]
        lu[:, k] = top
        pivot = lu[:, k : k + 1, k]
        lu[:, k + 1 :, k] /= xp.where(pivot == 0, 1, pivot)
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k : k + 1] * lu[:, k : k + 1, k + 1 :]
    return lu.reshape(x.shape), pivots.reshape(*x.shape[:-2], count)


def row_order(xp: Any, pivots: Any, m: int) -> Any:
    """The rows of the matrix in the order in which elimination left them."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    order = xp.broadcast_to(xp.arange(m), (len(flat), m)).copy()
    each = xp.arange(len(flat))
    for k in range(flat.shape[1]):
        other = flat[:, k] - 1
        held = order[:, k].copy()
        order[:, k] = order[each, other]
        order[each, other] = held
    return order.reshape(*pivots.shape[:-1], m)


@kernel("lu_unpack")
def lu_unpack(xp: Any, lu: Any, pivots: Any, unpack_data: bool, unpack_pivots: bool) -> Any:
    """P, L and U with P L U the matrix; what is not wanted is empty."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    nothing = xp.empty((0,), lu.dtype)
    p = lower = upper = nothing
    if unpack_pivots:
        order = row_order(xp, pivots, m)
        p = (order[..., None, :] == xp.arange(m)[:, None]).astype(lu.dtype)
    if unpack_data:
        lower = xp.tril(lu[..., :k], -1) + xp.eye(m, k, dtype=lu.dtype)
        upper = xp.triu(lu[..., :k, :])
    return p, lower, upper


@kernel("linalg_lu")
def linalg_lu(xp: Any, x: Any) -> Any:
    return lu_unpack(xp, *linalg_lu_factor_ex(xp, x), True, True)


@kernel("linalg_lu_solve")
@in_columns
def linalg_lu_solve(xp: Any, lu: Any, pivots: Any, b: Any, left: bool, adjoined: bool) -> Any:
    """x with A x = b (or x A = b, or with the adjoint of A), where lu and pivots are the factors of A."""
    if not left:
        return adjoint(linalg_lu_solve(xp, lu, pivots, adjoint(b), True, not adjoined))
    p, lower, upper = lu_unpack(xp, lu, pivots, True, True)
    if adjoined:
        half = linalg_solve_triangular(xp, adjoint(upper), b, False, True, False)
        return p @ linalg_solve_triangular(xp, adjoint(lower), half, True, True, True)
    half = linalg_solve_triangular(xp, lower, p.swapaxes(-1, -2) @ b, False, True, True)
    return linalg_solve_triangular(xp, upper, half, True, True, False)


# Numerators of Padé's approximation of degree 13 to the exponential, and the norm up to which it is exact (Higham, 2005).
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
_LARGEST_NORM = 5.371920351148152


@kernel("linalg_matrix_exp")
@quietly
def linalg_matrix_exp(xp: Any, x: Any) -> Any:
    """The exponential, by Padé's approximation of a fraction of the matrix, squared again and again."""
    if not x.size:
        return x.copy()
    norm = abs(x).sum(axis=-2).max(axis=-1)
    halvings = xp.ceil(xp.log2(xp.maximum(norm / _LARGEST_NORM, 1)))
    halvings = xp.where(xp.isfinite(norm), halvings, 0).astype(int)
    a = x * (0.5**halvings).astype(norm.dtype)[..., None, None]
    b = [a.dtype.type(c) for c in _PADE]
    eye = xp.eye(x.shape[-1], dtype=x.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * eye)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * eye
    result = xp.linalg.solve(even - odd, even + odd)
    for done in range(int(halvings.max())):
        result = xp.where((halvings > done)[..., None, None], result @ result, result)
    return result


@kernel("linalg_lstsq")
def linalg_lstsq(
    xp: Any, a: Any, b: Any, rcond: float, reach: float, measured: bool, vector: bool, by_rows: bool
) -> Any:
    """The shortest x for which |a x - b| is smallest, its square for each column (if `measured`), and the rank of a.

    `by_rows`: the rank as LAPACK's gelsy estimates it, which exchanges columns; else singular values say it.
    """
    b = b[..., None] if vector else b
    found = lapack.least_squares(a, b, rcond) if by_rows and xp is numpy else None
    if found is None:
        u, s, vh = singular(xp, a)
        kept = s > (s.max(axis=-1, keepdims=True) * rcond if s.size else 0)
        inverse = xp.where(kept, 1 / xp.where(kept, s, 1), 0).astype(s.dtype)
        solution = adjoint(vh) @ (inverse[..., None] * (adjoint(u) @ b))
        *batch, n, k = solution.shape
        x = xp.empty((*batch, k, max(a.shape[-2:])), solution.dtype)[..., :n].swapaxes(-1, -2)  # as LAPACK leaves it
        x[...] = solution
        found = x, kept.sum(-1)
    x, rank = found
    residuals = (abs(a @ x - b) ** 2).sum(axis=-2) if measured else xp.empty((0,), abs(x[..., :0, :0]).dtype)
    return x[..., 0] if vector else x, residuals, rank

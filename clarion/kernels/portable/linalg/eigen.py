"""Eigenvalues of any square matrices, and factors that LAPACK keeps in packed form: reflections, and L D L^H."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ... import lapack
from ...everywhere import from_host, on_host, scipy
from ...layout import columns, in_columns
from ...registry import kernel


@kernel("linalg_eig")
def linalg_eig(xp: Any, x: Any) -> Any:
    """Always complex, and the vectors of length 1."""
    values, vectors = numpy.linalg.eig(on_host(x))  # on the host: not every array library has it
    kind = numpy.result_type(x.dtype, numpy.complex64)
    return from_host(xp, values.astype(kind, copy=False)), from_host(xp, columns(vectors.astype(kind, copy=False)))


@kernel("linalg_eigvals")
def linalg_eigvals(xp: Any, x: Any) -> Any:
    """The same without the vectors."""
    values = lapack.of(numpy).eigvals(on_host(x))
    return from_host(xp, values.astype(numpy.result_type(x.dtype, numpy.complex64), copy=False))


@kernel("geqrf")
def geqrf(xp: Any, x: Any) -> Any:
    """R above, and below it the vectors of the reflections whose product is Q; and their lengths."""
    count = min(x.shape[-2:])
    if x.size == 0:
        return x.copy(), xp.zeros((*x.shape[:-2], count), x.dtype)
    packed, lengths = numpy.linalg.qr(on_host(x), mode="raw")
    return from_host(xp, numpy.ascontiguousarray(packed).swapaxes(-1, -2)), from_host(xp, lengths)


def _lapack(name: str, kind: Any) -> Any:
    return scipy("linalg.lapack").get_lapack_funcs((name,), dtype=kind)[0]


def _routine(name: str, kind: Any, hermitian: bool) -> str:
    return f"{'he' if hermitian and kind.kind == 'c' else 'sy'}{name}"


@kernel("linalg_ldl_factor_ex")
@in_columns
def linalg_ldl_factor_ex(xp: Any, x: Any, hermitian: bool) -> Any:
    """L and D in one matrix, LAPACK's pivots, and the first zero on the diagonal of D (0: none)."""
    n = x.shape[-1]
    flat = on_host(x).reshape(math.prod(x.shape[:-2]), n, n)
    factors = numpy.empty(flat.shape, x.dtype)
    pivots, info = numpy.empty(flat.shape[:2], numpy.int32), numpy.zeros(len(flat), numpy.int32)
    for i, matrix in enumerate(flat):
        if n:
            factors[i], own, info[i] = _lapack(_routine("trf", x.dtype, hermitian), x.dtype)(matrix, lower=1)
            pivots[i] = own
    factors = numpy.tril(factors)
    batch = x.shape[:-2]
    return (
        from_host(xp, factors.reshape(x.shape)),
        from_host(xp, pivots.reshape(*batch, n)),
        from_host(xp, info.reshape(batch)),
    )


@kernel("linalg_ldl_solve")
@in_columns
def linalg_ldl_solve(xp: Any, factors: Any, pivots: Any, b: Any, hermitian: bool) -> Any:
    """The solution of the systems whose matrices have these factors."""
    batch = numpy.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    n, columns = b.shape[-2:]
    if not b.size or not math.prod(batch):
        return xp.empty((*batch, n, columns), b.dtype)
    factors = numpy.broadcast_to(on_host(factors), (*batch, n, n)).reshape(-1, n, n)
    pivots = numpy.broadcast_to(on_host(pivots), (*batch, n)).reshape(-1, n)
    found = numpy.broadcast_to(on_host(b), (*batch, n, columns)).reshape(-1, n, columns).copy()
    solve = _lapack(_routine("trs", b.dtype, hermitian), b.dtype)
    for i in range(len(found)):
        found[i] = solve(factors[i], pivots[i], found[i], lower=1)[0]
    return from_host(xp, found.reshape(*batch, n, columns))

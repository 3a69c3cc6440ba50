"""LAPACK in the type of the matrices, and its solver of least squares.

`numpy.linalg` computes float32 in float64 and rounds the result, which takes up to twice as long; its loops, which it would call, are there
for float32, too. What they find nothing for raises NumPy's exceptions.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy

from .blas import lapacke
from .layout import address

_COLUMNS = 102  # LAPACK's word for matrices column by column
_loops: Any = getattr(numpy.linalg, "_umath_linalg", None)


def of(xp: Any) -> Any:
    """The linear algebra of an array library: for NumPy's what is here."""
    return _Single if xp is numpy else xp.linalg


@functools.cache
def _loop(name: str, kind: str, signature: str) -> Any:
    """A loop of NumPy's for float32 or complex64; None for other types, and where there is none.

    In signatures x is the type, r the real and c the complex one of its size.
    """
    if kind not in "fF":
        return None
    loop = getattr(_loops, name, None)
    types = signature.replace("x", kind).replace("r", "f").replace("c", "F")
    return functools.partial(loop, signature=types) if types in getattr(loop, "types", ()) else None


def _run(loop: Any, failure: str | None, *arrays: Any) -> Any:
    def fail(*_: Any) -> None:
        raise numpy.linalg.LinAlgError(failure)

    invalid: Any = "ignore" if failure is None else "call"
    with numpy.errstate(call=fail, invalid=invalid, over="ignore", divide="ignore", under="ignore"):
        return loop(*arrays)


def _by_loop(name: str, signature: str, failure: str | None) -> Any:
    """NumPy's function of matrices of a type, in that type."""
    whole = getattr(numpy.linalg, name)

    def function(*arrays: Any) -> Any:
        kind = arrays[0].dtype.char
        loop = _loop({"cholesky": "cholesky_lo"}.get(name, name), kind, signature)
        if loop is None or any(each.dtype.char != kind or not each.size for each in arrays):
            return whole(*arrays)
        return _run(loop, failure, *arrays)

    return staticmethod(function)


class _Single:
    """What `numpy.linalg` has, for matrices."""

    inv = _by_loop("inv", "x->x", "Singular matrix")
    det = _by_loop("det", "x->x", None)
    slogdet = _by_loop("slogdet", "x->xr", None)
    solve = _by_loop("solve", "xx->x", "Singular matrix")
    cholesky = _by_loop("cholesky", "x->x", "Matrix is not positive definite")
    eigvals = _by_loop("eigvals", "x->c", "Eigenvalues did not converge")

    @staticmethod
    def qr(x: Any, mode: str = "reduced") -> Any:
        """An orthogonal and a triangular factor."""
        found = _single_qr(x, mode) if x.dtype.char == "f" and math.prod(x.shape[-2:]) >= _WORTH else None
        return numpy.linalg.qr(x, mode=mode) if found is None else found

    @staticmethod
    def svd(x: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
        """The singular value decomposition, or the values alone."""
        name, signature = ("svd_f" if full_matrices else "svd_s", "x->xrx") if compute_uv else ("svd", "x->r")
        loop = _loop(name, x.dtype.char, signature) if x.size else None
        if loop is None:
            return numpy.linalg.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
        return _run(loop, "SVD did not converge", x)

    @staticmethod
    def eigh(x: Any, UPLO: str = "L") -> Any:
        """Eigenvalues and eigenvectors of a symmetric matrix."""
        loop = _loop("eigh_lo" if UPLO == "L" else "eigh_up", x.dtype.char, "x->rx") if x.size else None
        return numpy.linalg.eigh(x, UPLO) if loop is None else _run(loop, "Eigenvalues did not converge", x)

    @staticmethod
    def eigvalsh(x: Any, UPLO: str = "L") -> Any:
        """Its eigenvalues alone."""
        loop = _loop("eigvalsh_lo" if UPLO == "L" else "eigvalsh_up", x.dtype.char, "x->r") if x.size else None
        return numpy.linalg.eigvalsh(x, UPLO) if loop is None else _run(loop, "Eigenvalues did not converge", x)


# Orthogonal factors: NumPy has no loop of float32 -------------------------------------------------------

_WORTH = 1 << 10  # elements of a matrix from which a call past NumPy is worth it


@functools.cache
def _reflections() -> tuple[Any, Any] | None:
    """LAPACK's functions that find reflections, and multiply them."""
    found, whole = [], None
    for name, sizes in (("sgeqrf", 2), ("sorgqr", 3)):
        each = lapacke(name)
        if each is None:
            return None
        function, whole = each
        function.argtypes = [ctypes.c_int, *[whole] * sizes, ctypes.c_void_p, whole, ctypes.c_void_p]
        function.restype = whole
        found.append(function)
    return found[0], found[1]


def _single_qr(x: Any, mode: str) -> Any:
    found = _reflections()
    if found is None:
        return None
    (*batch, m, n), (factor, multiply) = x.shape, found
    k, wide = min(m, n), max(m, n) if mode == "complete" else n
    packed = numpy.zeros((math.prod(batch), wide, m), x.dtype)  # column by column
    packed[:, :n] = x.swapaxes(-1, -2).reshape(-1, n, m)
    lengths = numpy.empty(k, x.dtype)
    columns = m if mode == "complete" else k
    upper = numpy.empty((len(packed), columns, n), x.dtype)
    for matrix, r in zip(packed, upper, strict=True):
        if factor(_COLUMNS, m, n, address(matrix), m, address(lengths)):
            return None
        r[...] = numpy.triu(matrix[:n].T[:columns])
        if mode != "r" and multiply(_COLUMNS, m, columns, k, address(matrix), m, address(lengths)):
            return None
    upper = upper.reshape(*batch, columns, n)
    return upper if mode == "r" else (packed[:, :columns].swapaxes(-1, -2).reshape(*batch, m, columns), upper)


# Least squares -------------------------------------------------------------------------------------------

_LETTERS = {"f": "s", "d": "d"}


@functools.cache
def _gelsy(kind: str) -> tuple[Any, Any] | None:
    """LAPACK's function for a type, and its whole numbers; None where there is none."""
    found = lapacke(f"{_LETTERS[kind]}gelsy") if kind in _LETTERS else None
    if found is not None:
        function, whole = found
        number, place = ctypes.c_float if kind == "f" else ctypes.c_double, ctypes.c_void_p
        function.argtypes = [ctypes.c_int, *[whole] * 3, place, whole, place, whole, place, number, place]
        function.restype = whole
    return found


def least_squares(a: Any, b: Any, rcond: float) -> tuple[Any, Any] | None:
    """The shortest x for which |a x - b| is smallest, and the rank of a, by LAPACK's gelsy; None where it is not there or finds nothing."""
    found = _gelsy(a.dtype.char) if a.dtype == b.dtype and a.size and b.size else None
    if found is None:
        return None
    function, whole = found
    batch = numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    (m, n), k = a.shape[-2:], b.shape[-1]
    long, count = max(m, n), math.prod(batch)
    # Both are overwritten, b with what may be longer than it is.
    matrices = numpy.array(numpy.broadcast_to(a.swapaxes(-1, -2), (*batch, n, m)), order="C")
    sides = numpy.zeros((*batch, k, long), b.dtype)
    sides[..., :m] = b.swapaxes(-1, -2)
    ranks, pivots = numpy.empty(batch, whole), numpy.zeros((count, n), whole)
    steps = [math.prod(each.shape[-2:]) * each.itemsize for each in (matrices, sides)]
    first, second, rank, order = (address(each) for each in (matrices, sides, ranks, pivots))
    for i in range(count):
        at, to = first + i * steps[0], second + i * steps[1]
        own = order + i * n * pivots.itemsize, rank + i * ranks.itemsize
        if function(_COLUMNS, m, n, k, at, m, to, long, own[0], rcond, own[1]):
            return None
    return sides[..., :n].swapaxes(-1, -2), ranks.astype(numpy.int64)

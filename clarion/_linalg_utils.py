"""`torch._linalg_utils`: products with matrices that may be missing (the identity) or sparse."""

from __future__ import annotations

from typing import Any

from . import linalg as _linalg
from .ops.faces.api import FUNCTIONS as _FUNCTIONS


def is_sparse(A: Any) -> bool:
    """Is it a sparse tensor?"""
    return bool(A.is_sparse)


def matmul(A: Any, B: Any) -> Any:
    """`A @ B`; without A, B itself."""
    return B if A is None else _FUNCTIONS["matmul"](A, B)


def bform(X: Any, A: Any, Y: Any) -> Any:
    """The bilinear form `Xᵀ A Y`."""
    return X.mT @ matmul(A, Y)


def qform(A: Any, S: Any) -> Any:
    """The quadratic form `Sᵀ A S`."""
    return bform(S, A, S)


def basis(A: Any) -> Any:
    """An orthonormal basis of what the columns span."""
    return _linalg.qr(A)[0]


def symeig(A: Any, largest: bool | None = False) -> tuple[Any, Any]:
    """The eigenpairs of a symmetric matrix, in the order that is asked for."""
    values, vectors = _linalg.eigh(A, UPLO="U")
    return (values.flip(-1), vectors.flip(-1)) if largest else (values, vectors)

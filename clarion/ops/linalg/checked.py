"""`inv_ex`, `cholesky_ex`, `solve_ex`: a matrix for which it cannot be done is told by `info` and does not raise.

The result is NaN there (PyTorch's holds what LAPACK had got to), and its gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import return_types
from ...core.tensor import created, new_tensor
from ..faces.api import FUNCTIONS
from . import decompositions as dense
from .lu import lu_factor_ex


def _where_possible(run: Callable[[Any], Any], A: Any, info: Any) -> Any:
    """`run` on a batch of which some matrices are known to fail."""
    failed = new_tensor(np.asarray(info)[..., None, None] > 0)
    eye = FUNCTIONS["eye"](A.shape[-1], dtype=A.dtype)
    where = FUNCTIONS["where"]
    return where(failed, float("nan"), run(where(failed, eye, A)))


def _first_bad_minor(matrix: Any) -> int:
    """The order of the smallest leading part that is not positive-definite; 0 if all are."""
    for order in range(1, len(matrix) + 1):
        try:
            np.linalg.cholesky(matrix[:order, :order])
        except np.linalg.LinAlgError:
            return order
    return 0


def _each(fn: Callable[[Any], int], array: Any) -> Any:
    found = [fn(matrix) for matrix in array.reshape(-1, *array.shape[-2:])]
    return np.array(found, np.int32).reshape(array.shape[:-2])


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and for each matrix the order of its first part that is not positive-definite (0: none)."""
    array = dense.matrices("linalg.cholesky_ex", A)
    if check_errors:
        info = created(np.zeros(array.shape[:-2], np.int32))
        return return_types.linalg_cholesky_ex(dense.cholesky(A, upper=upper), info)
    source = A.mH if upper else A
    try:
        factor, info = dense.cholesky_op.call(source), np.zeros(array.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        lower = np.tril(source._array)
        info = _each(_first_bad_minor, lower + np.tril(source._array, -1).conj().swapaxes(-1, -2))
        factor = _where_possible(dense.cholesky_op.call, source, info)
    return return_types.linalg_cholesky_ex(factor.mH if upper else factor, created(info))


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse, and for each matrix the first zero pivot (0: none)."""
    array = dense.matrices("linalg.inv_ex", A)
    try:
        inverse, info = dense.inv_op.call(A), np.zeros(array.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        if check_errors:
            return dense.inv(A)
        info = lu_factor_ex(A.detach())[2]._array
        inverse = _where_possible(dense.inv_op.call, A, info)
    return return_types.linalg_inv_ex(inverse, created(info))


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution of a linear system, and for each matrix the first zero pivot (0: none)."""
    array = dense.matrices("linalg.solve_ex", A)
    try:
        solution, info = dense.solve(A, B, left=left), np.zeros(array.shape[:-2], np.int32)
    except dense.LinAlgError:
        if check_errors:
            raise
        info = lu_factor_ex(A.detach())[2]._array
        solution = _where_possible(lambda safe: dense.solve(safe, B, left=left), A, info)
    return return_types.linalg_solve_ex(solution, created(info))

"""`inv_ex`, `cholesky_ex`, `solve_ex`: a matrix for which it cannot be done is told by `info` and does not raise.

The result is NaN there (PyTorch's holds what LAPACK had got to), and its gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import return_types
from ...core.devices import HOST, kind_of, to_host, xp_of
from ...core.dtypes import int32
from ...core.tensor import created, new_tensor
from ..faces.api import FUNCTIONS
from . import decompositions as dense
from .lu import lu_factor_ex


def _where_possible(run: Callable[[Any], Any], A: Any, info: Any) -> Any:
    """`run` on a batch of which some matrices are known to fail."""
    failed = new_tensor(info[..., None, None] > 0)
    eye = FUNCTIONS["eye"](A.shape[-1], dtype=A.dtype, device=A.device)
    where = FUNCTIONS["where"]
    return where(failed, float("nan"), run(where(failed, eye, A)))


def _first_bad_minor(matrix: Any) -> int:
    """The order of the smallest leading part that is not positive-definite; 0 if all are."""
    for order in range(1, len(matrix) + 1):
        try:
            HOST.xp.linalg.cholesky(matrix[:order, :order])
        except HOST.xp.linalg.LinAlgError:
            return order
    return 0


def _each(fn: Callable[[Any], int], array: Any) -> Any:
    found = [fn(matrix) for matrix in array.reshape(-1, *array.shape[-2:])]
    return HOST.xp.array(found, int32.numpy).reshape(array.shape[:-2])


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and for each matrix the order of its first part that is not positive-definite (0: none)."""
    array = dense.matrices("linalg.cholesky_ex", A)
    if check_errors:
        info = created(xp_of(array).zeros(array.shape[:-2], int32.numpy))
        return return_types.linalg_cholesky_ex(dense.cholesky(A, upper=upper), info)
    upper = bool(upper)
    try:
        factor, info = dense.cholesky_op.call(A, upper), xp_of(array).zeros(array.shape[:-2], int32.numpy)
    except HOST.xp.linalg.LinAlgError:
        given, xp = to_host(array), HOST.xp
        given = given.conj().swapaxes(-1, -2) if upper else given
        info = _each(_first_bad_minor, xp.tril(given) + xp.tril(given, -1).conj().swapaxes(-1, -2))
        info = kind_of(array).receive(info)
        factor = _where_possible(lambda x: dense.cholesky_op.call(x, upper), A, info)
    return return_types.linalg_cholesky_ex(factor, created(info))


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse, and for each matrix the first zero pivot (0: none)."""
    array = dense.matrices("linalg.inv_ex", A)
    try:
        inverse, info = dense.inv_op.call(A), xp_of(array).zeros(array.shape[:-2], int32.numpy)
    except HOST.xp.linalg.LinAlgError:
        if check_errors:
            return dense.inv(A)
        info = lu_factor_ex(A.detach())[2]._array
        inverse = _where_possible(dense.inv_op.call, A, info)
    return return_types.linalg_inv_ex(inverse, created(info))


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution of a linear system, and for each matrix the first zero pivot (0: none)."""
    array = dense.matrices("linalg.solve_ex", A)
    try:
        solution, info = dense.solve(A, B, left=left), xp_of(array).zeros(array.shape[:-2], int32.numpy)
    except dense.LinAlgError:
        if check_errors:
            raise
        info = lu_factor_ex(A.detach())[2]._array
        solution = _where_possible(lambda safe: dense.solve(safe, B, left=left), A, info)
    return return_types.linalg_solve_ex(solution, created(info))

"""`inv_ex`, `cholesky_ex`, `solve_ex`: a matrix for which it cannot be done is told by `info` and does not raise.

The result is NaN there (PyTorch's holds what LAPACK had got to), and its gradient is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import return_types
from ...core.devices import HOST, kind_of, xp_of
from ...core.dtypes import int32
from ...core.tensor import created, new_tensor
from ..faces.api import FUNCTIONS
from . import decompositions as dense
from .failures import bad_minors
from .lu import lu_factor_ex


def _where_possible(run: Callable[[Any], Any], A: Any, info: Any) -> Any:
    """`run` on a batch of which some matrices are known to fail."""
    failed = new_tensor(info[..., None, None] > 0)
    eye = FUNCTIONS["eye"](A.shape[-1], dtype=A.dtype, device=A.device)
    where = FUNCTIONS["where"]
    return where(failed, float("nan"), run(where(failed, eye, A)))


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The Cholesky factor, and for each matrix the order of its first part that is not positive-definite (0: none)."""
    array = dense.matrices("linalg.cholesky_ex", A)
    if check_errors:
        info = created(xp_of(array).zeros(array.shape[:-2], int32.numpy))
        factor = dense.by_lapack("linalg.cholesky_ex", dense.NOT_POSITIVE, dense.cholesky_op, A, bool(upper))
        return return_types.linalg_cholesky_ex(factor, info)
    upper = bool(upper)
    try:
        factor, info = dense.cholesky_op.call(A, upper), xp_of(array).zeros(array.shape[:-2], int32.numpy)
    except HOST.xp.linalg.LinAlgError:
        info = kind_of(array).receive(bad_minors(array, upper))
        factor = _where_possible(lambda x: dense.cholesky_op.call(x, upper), A, info)
    return return_types.linalg_cholesky_ex(factor, created(info))


def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse, and for each matrix the first zero pivot (0: none)."""
    array = dense.matrices("linalg.inv_ex", A)
    try:
        inverse, info = dense.inv_op.call(A), xp_of(array).zeros(array.shape[:-2], int32.numpy)
    except HOST.xp.linalg.LinAlgError:
        if check_errors:
            return dense.by_lapack("linalg.inv_ex", dense.SINGULAR, dense.inv_op, A)
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

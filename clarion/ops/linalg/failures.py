"""Where a factorization fails: for which matrix of a batch, and at which place of it."""

from __future__ import annotations

from typing import Any

from ...core.devices import HOST, to_host
from ...core.dtypes import int32
from ...core.tensor import new_tensor
from ...kernels import lapack
from ...kernels.batched.levels import all_samples


def bad_minors(array: Any, upper: bool) -> Any:
    """For each matrix the order of its smallest leading part that is not positive-definite; 0 if all are."""
    given, xp = to_host(array), HOST.xp
    given = given.conj().swapaxes(-1, -2) if upper else given
    whole = xp.tril(given) + xp.tril(given, -1).conj().swapaxes(-1, -2)
    found = [_first_bad_minor(matrix) for matrix in whole.reshape(-1, *whole.shape[-2:])]
    return xp.array(found, int32.numpy).reshape(whole.shape[:-2])


def _first_bad_minor(matrix: Any) -> int:
    """By bisection, since every part that contains a bad one is bad; in the arithmetic in which the factor was looked for."""
    if _has_factor(matrix):
        return 0
    good, bad = 0, len(matrix)
    while bad - good > 1:
        middle = (good + bad) // 2
        if _has_factor(matrix[:middle, :middle]):
            good = middle
        else:
            bad = middle
    return bad


def _has_factor(matrix: Any) -> bool:
    try:
        factor = lapack.of(HOST.xp).cholesky(matrix)
    except HOST.xp.linalg.LinAlgError:
        return False
    return not factor.size or bool(factor[-1, -1] == factor[-1, -1])


def first_failure(operation: str, args: tuple[Any, ...]) -> tuple[int | None, int]:
    """The number of the first matrix that fails (None if there is only one), and the place in it."""
    array = all_samples(args[0]._array)
    if operation == "linalg_cholesky":
        places = bad_minors(array, args[1])
    else:
        from .lu import lu_factor_ex

        places = to_host(lu_factor_ex(new_tensor(array))[2]._array)
    flat = places.reshape(-1)
    failed = [i for i, place in enumerate(flat.tolist()) if place > 0] or [0]
    return (None if array.ndim == 2 else failed[0]), int(flat[failed[0]])

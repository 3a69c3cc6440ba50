"""Norms of matrices: `linalg.matrix_norm` and `linalg.norm`."""

from __future__ import annotations

import math
from typing import Any

from ...core.description import normalize_dim
from ...core.dtypes import FROM_NUMPY, INEXACT
from ...core.namespace import lifted
from ...errors import DtypeError, EngineError, ShapeError
from ..reductions.norms import check_norm_dtype, vector_norm
from ..reductions.sums import array_of, converted
from .decompositions import svd_op


def matrix_norm(input: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: 'fro', 'nuc', or inf, -inf, 1, -1, 2, -2."""
    array = array_of(input, "linalg_matrix_norm")
    if array.ndim < 2:
        raise ShapeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        shown = "[" + ", ".join(map(str, dim)) + "]" if isinstance(dim, (tuple, list)) else dim
        raise ShapeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {shown}")
    if array.dtype not in INEXACT:
        raise DtypeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {FROM_NUMPY[array.dtype].old}"
        )
    first, second = (normalize_dim(d, array.ndim) for d in dim)
    if first == second:
        raise EngineError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return vector_norm(input, 2, (first, second), keepdim, dtype=dtype)
    if (isinstance(ord, str) and ord != "nuc") or (not isinstance(ord, str) and abs(ord) not in (1, 2, math.inf)):
        if isinstance(ord, complex):
            raise EngineError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
        raise EngineError(f"linalg.matrix_norm: Order {ord} not supported.")
    if dtype is not None:
        check_norm_dtype(array, dtype)
        input = converted(input, dtype)
    if ord == "nuc" or abs(ord) == 2:
        return _of_singular_values(input, ord, first, second, keepdim)
    if abs(ord) == math.inf:  # of the rows' sums; of the columns' for 1
        first, second = second, first
    sums = vector_norm(input, 1, first, keepdim)
    if second > first and not keepdim:
        second -= 1
    return sums.amax(second, keepdim) if ord > 0 else sums.amin(second, keepdim)


def _of_singular_values(input: Any, ord: Any, first: int, second: int, keepdim: bool) -> Any:
    ndim = input._array.ndim
    order = (*[d for d in range(ndim) if d not in (first, second)], first, second)
    moved = lifted.permute(input, order)
    values = svd_op.call(moved, False, moved.is_complex())[1]
    result = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord > 0 else values.amin(-1)
    if keepdim:
        for d in sorted((first, second)):
            result = lifted.unsqueeze(result, d)
    return result


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The vector norm for one dimension (or without `ord`), the matrix norm for two."""
    array = array_of(A, "linalg_norm")
    if dim is not None and not isinstance(dim, int):
        dim = tuple(dim)
        if len(dim) not in (1, 2):
            raise EngineError(
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [" + ", ".join(map(str, dim)) + "]"
            )
    elif dim is None and ord is not None and array.ndim not in (1, 2):
        raise EngineError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {array.ndim}D."
        )
    if ord is not None and ((isinstance(dim, tuple) and len(dim) == 2) or (dim is None and array.ndim == 2)):
        return matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(ord, str):  # which is only there for matrices
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)

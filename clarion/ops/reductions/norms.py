"""Vector norms: `linalg.vector_norm`, `norm`, `dist`, `renorm`."""

from __future__ import annotations

import math
from typing import Any

from ...core.description import normalize_dim
from ...core.dtypes import FROM_NUMPY, INEXACT, checked
from ...core.namespace import OPS
from ...core.op import Op
from ...errors import DtypeError, EngineError
from ..faces.api import FUNCTIONS, call, public
from ..faces.typed import need_tensors
from .sums import array_of, converted, reduced_dims, restore_dims


def vector_norm_grad(g: Any, x: Any, out: Any, x_shape: Any, ord: float, dim: Any, keepdim: bool, ops: Any) -> Any:
    """sign(x) (|x| / norm) ** (ord - 1), and 0 where the norm is 0."""
    if ord == 0:
        return None
    g = restore_dims(g, x_shape, dim, keepdim, ops)
    if ord == 1:
        return ops.sgn(x) * g
    out = restore_dims(out, x_shape, dim, keepdim, ops)
    if ord == 2:
        return ops.away_from_zero(x, ops.divide_or_zero(g, out), out)
    if math.isinf(ord):
        return ops.sgn(x) * (g * ops.tie_share(abs(x), out, dim))
    if ord < 1:
        size = ops.zero_where(abs(x) ** (ord - 1), x)
        return ops.sgn(x) * size * (g * out ** (1 - ord))
    scale = ops.divide_or_zero(g, out ** (ord - 1))
    if ord < 2:
        return ops.sgn(x) * abs(x) ** (ord - 1) * scale
    return x * abs(x) ** (ord - 2) * scale


vector_norm_op = Op("vector_norm", "x", "ord dim keepdim", node="LinalgVectorNormBackward0", conj=False, traits="norm")
vector_norm_op.vjp(x=vector_norm_grad)

# x times a scale: the gradient of a norm. It is 0 where the norm is 0, and has no derivative there: NaN, as PyTorch's.
away_from_zero_op = Op("away_from_zero", "x scale norm", broadcast=True)
away_from_zero_op.vjp(
    x=lambda g, scale, norm, ops: g * ops.nan_where_zero(scale, norm),
    scale=lambda g, x: g * x,
)
nan_where_zero_op = Op("nan_where_zero", "value x", broadcast=True)
nan_where_zero_op.vjp(value=lambda g, x, ops: ops.nan_where_zero(g, x))

zero_where_op = Op("zero_where", "value x")
zero_where_op.vjp(value=lambda g, x, ops: ops.zero_where(g, x))


def vector_norm(input: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of all elements, or along dimensions: (sum |x| ** ord) ** (1 / ord); inf, -inf and 0 are limits."""
    array = array_of(input, "linalg_vector_norm")
    if array.dtype not in INEXACT:
        raise DtypeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {FROM_NUMPY[array.dtype].old}\nConvert it first: x.float()."
        )
    if dtype is not None:
        check_norm_dtype(array, dtype)
        input = converted(input, dtype)
    dims = reduced_dims(dim, array.ndim)
    if isinstance(ord, complex):
        raise EngineError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    ord = float(ord)
    if not array.size and (ord < 0 or ord == math.inf):
        _refuse_empty(array, ord, dims)
    return vector_norm_op.call(input, ord, dims, keepdim)


def check_norm_dtype(array: Any, dtype: Any) -> None:
    """The `dtype` of a norm: floating, complex exactly for complex input, and not narrower than it."""
    have, dtype = FROM_NUMPY[array.dtype], checked(dtype)
    if dtype.category < 2:
        raise DtypeError(f"linalg.vector_norm: dtype should be floating point or complex. Got {dtype.old}")
    if have.is_complex != dtype.is_complex:
        kind = "complex" if have.is_complex else "real"
        raise DtypeError(f"linalg.vector_norm: dtype should be {kind} for {kind} inputs, but got {dtype.old}")
    if have.itemsize > dtype.itemsize:
        raise DtypeError(
            f"linalg.vector_norm: the dtype of the input ({have.old}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.old})"
        )


def _refuse_empty(array: Any, ord: float, dims: Any) -> None:
    shown = "inf" if ord == math.inf else "-inf" if ord == -math.inf else f"{ord:g}"
    if dims is None:
        raise EngineError(
            f"linalg.vector_norm cannot compute the {shown} norm on an empty tensor because the operation does not have "
            "an identity"
        )
    for d in dims:
        if array.shape[d] == 0:
            raise EngineError(
                f"linalg.vector_norm cannot compute the {shown} norm on the dimension {d}because this dimension is empty "
                "and the operation does not have an identity"
            )


@public(out=True)
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all elements or along dimensions; 'fro' is the 2-norm, 'nuc' the sum of singular values."""
    if p == "fro" or p is None:
        p = 2
    elif isinstance(p, str):
        from ..linalg.norms import matrix_norm

        return matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return vector_norm(input, p, dim, keepdim, dtype=dtype)


@public(inplace=True, out=True)
def renorm(input: Any, p: Any, dim: int, maxnorm: float, *, run: Any = call) -> Any:
    """`input` with every slice along `dim` whose p-norm is over `maxnorm` scaled down to it."""
    array = array_of(input, "renorm")
    if p <= 0:
        raise EngineError("non-positive-norm not supported")
    if maxnorm < 0:
        raise EngineError(f"expected maxnorm to be >= 0 but got {maxnorm}")
    if array.ndim < 2:
        raise EngineError(f"input needs at least 2 dimensions, got {array.ndim} dimensions")
    kept = normalize_dim(dim, array.ndim)
    others = tuple(i for i in range(array.ndim) if i != kept)
    # Written in place, the norm must be that of the values before.
    norms = vector_norm(input if run is call else OPS["clone"].call(input), p, others, True)
    scale = FUNCTIONS["where"](norms > maxnorm, maxnorm / (norms + 1e-7), 1.0)
    return run(OPS["mul"], input, scale)


@public()
def dist(input: Any, other: Any, p: Any = 2) -> Any:
    """The p-norm of input - other."""
    need_tensors("dist", input, other)
    return vector_norm(input - other, p)

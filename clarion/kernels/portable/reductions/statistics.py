"""Variance, standard deviation and vector norms. `dim` is a tuple of dimensions counted from the front, or None."""

from __future__ import annotations

import math
from typing import Any

from ...everywhere import constant, dots
from ...quiet import quietly
from ...registry import kernel
from .sums import add_up, count, divided


def _moments(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> tuple[Any, Any]:
    n = count(x.shape, dim)
    mean = divided(xp, add_up(xp, x, dim, True), n)
    off = x - mean
    if not keepdim and x.ndim and x.dtype.kind == "f" and dim == (x.ndim - 1,):
        total = dots(xp, off, off)
    else:
        square = off.real * off.real + off.imag * off.imag if x.dtype.kind == "c" else off * off
        total = add_up(xp, square, dim, keepdim)
    if n != x.size and x.dtype.kind == "f":
        total = _exactly_zero(xp, x, dim, keepdim, n, mean, total)
    free = max(n - correction, 0)
    var = total / constant(xp, free, total.dtype.char) if total.ndim else xp.true_divide(total, free)
    return var, mean if keepdim else mean.reshape(var.shape)


_ROUNDING = {4: 16 * 2.0**-23, 8: 16 * 2.0**-52}  # of a mean, by the size of its type: at most


def _exactly_zero(xp: Any, x: Any, dim: Any, keepdim: bool, n: int, mean: Any, total: Any) -> Any:
    """Equal numbers vary by 0, as in PyTorch, and not by the rounding of their mean: gradients of a root depend on it."""
    bound = mean.reshape(total.shape) * (_ROUNDING[x.dtype.itemsize] * math.sqrt(n))
    small = total < bound * bound
    if not small.any():
        return total
    equal = x.max(dim, keepdims=keepdim) == x.min(dim, keepdims=keepdim)
    return xp.where(small & equal, total.dtype.type(0), total)


@kernel("var")
@quietly
def var(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    return _moments(xp, x, dim, correction, keepdim)[0]


@kernel("std")
@quietly
def std(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    return xp.sqrt(_moments(xp, x, dim, correction, keepdim)[0])


@kernel("var_mean")
@quietly
def var_mean(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    return _moments(xp, x, dim, correction, keepdim)


@kernel("std_mean")
@quietly
def std_mean(xp: Any, x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    var, mean = _moments(xp, x, dim, correction, keepdim)
    return xp.sqrt(var), mean


@kernel("vector_norm")
@quietly
def vector_norm(xp: Any, x: Any, ord: float, dim: Any, keepdim: bool) -> Any:
    if ord == 2:
        square = x.real * x.real + x.imag * x.imag if x.dtype.kind == "c" else x * x
        return xp.sqrt(add_up(xp, square, dim, keepdim))
    size = abs(x)
    if ord == 1:
        return add_up(xp, size, dim, keepdim)
    if ord == 0:
        return xp.add.reduce(x != 0, axis=dim, dtype=size.dtype, keepdims=keepdim)
    if math.isinf(ord):
        if not size.size and ord > 0:
            return add_up(xp, size, dim, keepdim)
        return size.max(dim, keepdims=keepdim) if ord > 0 else size.min(dim, keepdims=keepdim)
    return add_up(xp, size**ord, dim, keepdim) ** (1.0 / ord)


@kernel("away_from_zero")
def away_from_zero(xp: Any, x: Any, scale: Any, norm: Any) -> Any:
    """x * scale; the norm is what its derivative asks for."""
    return x * scale


@kernel("nan_where_zero")
def nan_where_zero(xp: Any, value: Any, x: Any) -> Any:
    """The value where x is not 0, NaN elsewhere."""
    return xp.where(x == 0, value.dtype.type(math.nan), value)


@kernel("zero_where")
def zero_where(xp: Any, value: Any, x: Any) -> Any:
    """`value`, and 0 where x is 0."""
    return xp.where(x == 0, value.dtype.type(0), value)

"""Variance, standard deviation, covariance."""

from __future__ import annotations

from typing import Any

from ...core.dtypes import FROM_NUMPY, INEXACT
from ...core.general_call import plain_number
from ...core.op import Op
from ...errors import DtypeError
from ..faces.api import public
from .sums import array_of, count, reduced_dims, restore_dims, spread


def var_grad(g: Any, x: Any, x_shape: Any, dim: Any, correction: float, keepdim: bool, ops: Any) -> Any:
    """Of a variance: 2 (x - mean) / degrees of freedom."""
    g = restore_dims(g, x_shape, dim, keepdim, ops)
    off = x - ops.mean(x, dim, True)
    free = count(x_shape, dim) - correction
    if free > 0:
        return (2.0 / free) * g * off
    return g * ops.div(abs(off), 0.0)  # NaN, or infinity, as PyTorch


def std_grad(g: Any, x: Any, out: Any, x_shape: Any, dim: Any, correction: float, keepdim: bool, ops: Any) -> Any:
    """Of a standard deviation; 0 where it is 0."""
    return var_grad(ops.divide_or_zero(g, 2 * out), x, x_shape, dim, correction, keepdim, ops)


def mean_grad(g: Any, x_shape: Any, dim: Any, keepdim: bool, ops: Any) -> Any:
    """Of a mean."""
    return spread(ops.div(g, count(x_shape, dim)), x_shape, dim, keepdim, ops)


def _var_mean_grad(g: Any, x: Any, x_shape: Any, dim: Any, correction: float, keepdim: bool, ops: Any) -> Any:
    g_var, g_mean = g
    if g_var is None:
        return mean_grad(g_mean, x_shape, dim, keepdim, ops)
    first = var_grad(g_var, x, x_shape, dim, correction, keepdim, ops)
    return first if g_mean is None else first + mean_grad(g_mean, x_shape, dim, keepdim, ops)


def _std_mean_grad(g: Any, x: Any, std: Any, x_shape: Any, dim: Any, correction: Any, keepdim: bool, ops: Any) -> Any:
    g_std, g_mean = g
    if g_std is None:
        return mean_grad(g_mean, x_shape, dim, keepdim, ops)
    first = std_grad(g_std, x, std, x_shape, dim, correction, keepdim, ops)
    return first if g_mean is None else first + mean_grad(g_mean, x_shape, dim, keepdim, ops)


var_op = Op("var", "x", "dim correction keepdim", conj=False, traits="deviation")
var_op.vjp(x=var_grad)

std_op = Op("std", "x", "dim correction keepdim", conj=False, traits="deviation")
std_op.vjp(x=std_grad)

var_mean_op = Op(
    "var_mean", "x", "dim correction keepdim", outputs="var mean", grad_outputs=(0, 1), conj=False, traits="deviation"
)
var_mean_op.vjp(x=_var_mean_grad)

std_mean_op = Op(
    "std_mean", "x", "dim correction keepdim", outputs="std mean", grad_outputs=(0, 1), conj=False, traits="deviation"
)
std_mean_op.vjp(x=_std_mean_grad)


def _run(op: Op, input: Any, dim: Any, unbiased: Any, keepdim: bool, correction: Any) -> Any:
    array = array_of(input, op.name)
    if type(dim) is bool:  # var(input, unbiased)
        dim, unbiased = None, dim
    if array.dtype not in INEXACT:
        title = "std and var" if op.name in ("std", "var") else op.name
        raise DtypeError(
            f"{title} only support floating point and complex dtypes\n"
            f"The input is {FROM_NUMPY[array.dtype]}; convert it first: x.float()."
        )
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return op.call(input, reduced_dims(dim, array.ndim), plain_number(correction), keepdim)


@public(out=True)
def var(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """The variance, divided by N - correction."""
    return _run(var_op, input, dim if axis is None else axis, unbiased, keepdim or keepdims, correction)


@public(out=True)
def std(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """The standard deviation."""
    return _run(std_op, input, dim if axis is None else axis, unbiased, keepdim or keepdims, correction)


@public(method=False)
def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """The variance and the mean."""
    return _run(var_mean_op, input, dim if axis is None else axis, unbiased, keepdim or keepdims, correction)


@public(method=False)
def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: bool = False,
    *,
    correction: Any = None,
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    """The standard deviation and the mean."""
    return _run(std_mean_op, input, dim if axis is None else axis, unbiased, keepdim or keepdims, correction)

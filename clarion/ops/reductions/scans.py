"""Running sums, products and extremes along one dimension, and what is built on them."""

from __future__ import annotations

import math
from typing import Any

from ...core import return_types
from ...core.alike import certainly
from ...core.description import normalize_dim
from ...core.dtypes import bool_, meant
from ...core.namespace import lifted
from ...core.op import Op
from ...errors import ArgumentTypeError, DtypeError, EngineError, NotSupportedError
from ..faces.api import call, public
from .sums import array_of, converted

# Rules ---------------------------------------------------------------------------------------------

cumsum_op = Op("cumsum", "x", "dim", traits="total")
cumsum_op.vjp(x=lambda g, dim, ops: ops.reverse_cumsum(g, dim)).jvp("each")

reverse_cumsum_op = Op("reverse_cumsum", "x", "dim", node="FlipBackward0")
reverse_cumsum_op.vjp(x=lambda g, dim, ops: ops.cumsum(g, dim)).jvp("each")


def cumprod_grad(g: Any, x: Any, out: Any, x_shape: Any, dim: int, ops: Any) -> Any:
    """Without zeros: the sum of g * out from here on, over x. With them: without dividing."""
    if not x_shape:
        return g
    if certainly(ops.all(x, None, False)):
        return ops.reverse_cumsum(g * out, dim) / x
    before = ops.cumprod(ops.shift(x, dim, 1, 1.0), dim)
    return before * horner(g, ops.shift(x, dim, -1, 0.0), x_shape[dim], dim, ops)


def horner(g: Any, x: Any, n: int, dim: int, ops: Any) -> Any:
    """s[k] = g[k] + x[k] * s[k+1] for all k, in log2(n) steps that double the reach of every s."""
    step = 1
    while step < n:
        g = g + x * ops.shift(g, dim, -step, 0.0)
        x = x * ops.shift(x, dim, -step, 0.0)
        step *= 2
    return g


cumprod_op = Op("cumprod", "x", "dim", traits="multiplies")
cumprod_op.vjp(x=cumprod_grad)


def logcumsumexp_grad(g: Any, x: Any, out: Any, x_shape: Any, dim: int, ops: Any) -> Any:
    """The sum of g * exp(x - out) from here on; each step between two `out` is a factor of at most 1."""
    if not x_shape:
        return g
    steps = ops.exp(out - ops.shift(out, dim, -1, math.inf))
    return ops.exp(x - out) * horner(g, steps, x_shape[dim], dim, ops)


logcumsumexp_op = Op("logcumsumexp", "x", "dim")
logcumsumexp_op.vjp(x=logcumsumexp_grad)

cummax_op = Op("cummax", "x", "dim", outputs="out indices")
cummax_op.vjp(x=lambda g, indices, dim, ops: ops.add_along(g, indices, dim))

cummin_op = Op("cummin", "x", "dim", outputs="out indices")
cummin_op.vjp(x=lambda g, indices, dim, ops: ops.add_along(g, indices, dim))

add_along_op = Op("add_along", "g index", "dim", node="ScatterAddBackward0")
add_along_op.vjp(g=lambda g, index, dim, ops: ops.gather(g, index, dim))


# Public faces --------------------------------------------------------------------------------------


def _scan_dim(name: str, input: Any, dim: Any, axis: Any) -> int:
    dim = dim if axis is None else axis
    if dim is None:
        raise ArgumentTypeError(f'{name}() missing 1 required positional arguments: "dim"')
    return normalize_dim(dim, array_of(input, name).ndim)


def _scan(op: Op, input: Any, dim: Any, dtype: Any, axis: Any, run: Any) -> Any:
    place = _scan_dim(op.name, input, dim, axis)
    if dtype is None:
        return run(op, input, place)
    dtype = meant(dtype)
    if dtype is bool_:
        raise NotSupportedError(f"\"{op.name}_out_cpu\" not implemented for 'Bool'")
    if run is not call:
        if input.dtype is not dtype:
            raise EngineError(
                f"Bad in-place call: input tensor dtype {input.dtype.name} and output tensor dtype {dtype.name} should match"
            )
        return run(op, input, place)
    result = op.call(converted(input, dtype), place)
    return result if dtype.category >= 2 or dtype.name == "int64" else lifted.cast(result, dtype.numpy)


@public(inplace=True, out=True)
def cumsum(input: Any, dim: Any = None, *, dtype: Any = None, axis: Any = None, run: Any = call) -> Any:
    """Running sums along a dimension."""
    return _scan(cumsum_op, input, dim, dtype, axis, run)


@public(inplace=True, out=True)
def cumprod(input: Any, dim: Any = None, *, dtype: Any = None, axis: Any = None, run: Any = call) -> Any:
    """Running products along a dimension."""
    return _scan(cumprod_op, input, dim, dtype, axis, run)


@public(out=True)
def logcumsumexp(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Logarithms of the running sums of exponentials along a dimension."""
    place = _scan_dim("logcumsumexp", input, dim, axis)
    if input._array.dtype.kind in "bui":
        raise DtypeError(f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.old}'")
    return logcumsumexp_op.call(input, place)


@public(out=True)
def cummax(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Running maxima along a dimension, and where they are."""
    return return_types.cummax(*cummax_op.call(input, _scan_dim("cummax", input, dim, axis)))


@public(out=True)
def cummin(input: Any, dim: Any = None, *, axis: Any = None) -> Any:
    """Running minima along a dimension, and where they are."""
    return return_types.cummin(*cummin_op.call(input, _scan_dim("cummin", input, dim, axis)))

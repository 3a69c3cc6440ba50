"""Sums, means, products and truth values. Operations take `dim` as a tuple counted from the front, or None for all."""

from __future__ import annotations

import math
from typing import Any

from ...core.alike import certainly
from ...core.description import normalize_dim, single_dim
from ...core.dtypes import FROM_NUMPY, INEXACT, checked, meant
from ...core.namespace import lifted
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import (
    ArgumentIndexError,
    DtypeError,
    EngineError,
    NotSupportedError,
    ShapeError,
    not_a_tensor,
)
from ..faces.api import METHODS, method, public, with_numpys_names
from ..faces.autocast import autocast

# Arguments -----------------------------------------------------------------------------------------


def array_of(input: Any, name: str) -> Any:
    """The array of a function's `input`, which must be a Tensor."""
    if isinstance(input, Tensor):
        return input._array
    raise not_a_tensor(name, "input", input, 1)


def reduced_dims(dim: Any, ndim: int) -> tuple[int, ...] | None:
    """A `dim` argument as a tuple counted from the front; None stands for all dimensions."""
    if dim is None:
        return None
    if type(dim) is int:
        if 0 <= dim < ndim:
            return (dim,)
        return (normalize_dim(dim, ndim),) if ndim else _scalar_dim(dim)
    dims = tuple([normalize_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))])
    if len(set(dims)) < len(dims):
        twice = next(d for d in dims if dims.count(d) > 1)
        raise EngineError(f"dim {twice} appears multiple times in the list of dims")
    return dims if dims and ndim else None


def _scalar_dim(dim: int) -> None:
    normalize_dim(dim, 0)


def converted(input: Any, kind: Any) -> Any:
    """The input in the type of a `dtype` argument."""
    wanted = checked(kind).numpy
    return input if input._array.dtype == wanted else lifted.cast(input, wanted)


def restore_dims(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool, ops: Any) -> Any:
    """A reduced value with the reduced dimensions back as size 1."""
    if keepdim or not shape:
        return g
    return ops.view(g, kept_shape(shape, dim))


def kept_shape(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """The shape of a reduction that keeps its dimensions."""
    if dim is None:
        return (1,) * len(shape)
    return tuple([1 if i in dim else n for i, n in enumerate(shape)])


def spread(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool, ops: Any) -> Any:
    """The gradient of a sum: every element of the input gets its result's."""
    return ops.expand(restore_dims(g, shape, dim, keepdim, ops), shape)


def count(shape: tuple[int, ...], dim: Any) -> int:
    """How many elements one result of a reduction is made of."""
    return math.prod(shape) if dim is None else math.prod([shape[d] for d in dim])


# Sum -----------------------------------------------------------------------------------------------

sum_all_op = Op("sum_all", "x", node="SumBackward0", traits="total")
sum_all_op.vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape)).jvp("each")

sum_op = Op("sum", "x", "dim keepdim", node="SumBackward1", traits="total")
sum_op.vjp(x=lambda g, x_shape, dim, keepdim, ops: spread(g, x_shape, dim, keepdim, ops)).jvp("each")

nansum_op = Op("nansum", "x", "dim keepdim", traits="selects total")
nansum_op.vjp(x=lambda g, x, x_shape, dim, keepdim, ops: spread(g, x_shape, dim, keepdim, ops) * (x == x))


@public(out=True)
def sum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The sum of all elements, or along dimensions; integers are summed in int64."""
    if dtype is not None:
        input, dtype = converted(input, dtype), meant(dtype)
        if dtype.category < 2 and dtype.name != "int64":
            return lifted.cast(sum(input, dim, keepdim, axis=axis, keepdims=keepdims), dtype.numpy)
    if not isinstance(input, Tensor):
        array_of(input, "sum")
    if dim is None and axis is None and not keepdim and not keepdims:
        return sum_all_op.call(input)
    dims = reduced_dims(dim if axis is None else axis, input._array.ndim)
    return sum_op.call(input, dims, keepdim or keepdims)


@public(out=True)
def nansum(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The sum with NaN counted as zero."""
    array = array_of(input, "nansum")
    if array.dtype not in INEXACT:
        return sum(input, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)
    if array.dtype.kind == "c":
        raise EngineError("nansum does not support complex inputs")
    if dtype is not None:
        input = converted(input, dtype)
        if input._array.dtype not in INEXACT:
            return sum(input, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)
    return nansum_op.call(input, reduced_dims(dim if axis is None else axis, array.ndim), keepdim or keepdims)


# Mean ----------------------------------------------------------------------------------------------

mean_all_op = Op("mean_all", "x", node="MeanBackward0", traits="total mean")
mean_all_op.vjp(x=lambda g, x_shape, ops: ops.expand(ops.div(g, math.prod(x_shape)), x_shape)).jvp("each")

mean_op = Op("mean", "x", "dim keepdim", node="MeanBackward1", traits="total mean")
mean_op.vjp(
    x=lambda g, x_shape, dim, keepdim, ops: spread(ops.div(g, count(x_shape, dim)), x_shape, dim, keepdim, ops)
).jvp("each")


@public(out=True)
def mean(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The mean of all elements, or along dimensions."""
    array = array_of(input, "mean")
    if dtype is not None or array.dtype not in INEXACT:
        which, kind = ("Input", FROM_NUMPY[array.dtype]) if dtype is None else ("Optional", checked(dtype))
        if kind.category < 2:
            raise DtypeError(
                f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
                f"Got: {kind.old}\nConvert it first: x.float().mean(), or say mean(dtype=torch.float32)."
            )
        input = input if dtype is None else converted(input, dtype)
    if dim is None and axis is None and not keepdim and not keepdims:
        return mean_all_op.call(input)
    return mean_op.call(input, reduced_dims(dim if axis is None else axis, array.ndim), keepdim or keepdims)


@public(out=True)
def nanmean(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The mean of the elements that are not NaN."""
    array = array_of(input, "nanmean")
    if array.dtype not in INEXACT:
        raise DtypeError(
            f"nanmean(): expected input to have floating point or complex dtype but got {FROM_NUMPY[array.dtype].old}"
        )
    total = nansum(input, dim, keepdim, dtype=dtype, axis=axis, keepdims=keepdims)
    return total / lifted.cast(sum(input == input, dim, keepdim, axis=axis, keepdims=keepdims), total._array.dtype)


# Product -------------------------------------------------------------------------------------------


def prod_grad(g: Any, x: Any, out: Any, x_shape: Any, dim: Any, keepdim: bool, ops: Any) -> Any:
    """out / x without zeros; with them, the product of all that stands before and all that stands after."""
    if not x_shape:
        return g
    if certainly(ops.all(x, None, False)):
        out, g = restore_dims(out, x_shape, dim, keepdim, ops), restore_dims(g, x_shape, dim, keepdim, ops)
        return g * (out / x)
    if dim is None:
        flat = ops.reshape(x, (math.prod(x_shape),))
        others = ops.reshape(product_of_others(flat, 0, ops), x_shape)
    else:
        others = product_of_others(x, dim[0], ops)
    return restore_dims(g, x_shape, dim, keepdim, ops) * others


def product_of_others(x: Any, dim: int, ops: Any) -> Any:
    """For each element the product of all others along `dim`, without dividing."""
    before = ops.cumprod(ops.shift(x, dim, 1, 1.0), dim)
    after = ops.flip(ops.cumprod(ops.shift(ops.flip(x, (dim,)), dim, 1, 1.0), dim), (dim,))
    return before * after


prod_all_op = Op("prod_all", "x", node="ProdBackward0", traits="multiplies")
prod_all_op.vjp(x=lambda g, x, out, x_shape, ops: prod_grad(g, x, out, x_shape, None, False, ops))

prod_op = Op("prod", "x", "dim keepdim", node="ProdBackward1", traits="multiplies")
prod_op.vjp(x=prod_grad)

shift_op = Op("shift", "x", "dim step fill")
shift_op.vjp(x=lambda g, dim, step, ops: ops.shift(g, dim, -step, 0.0))

divide_or_zero_op = Op("divide_or_zero", "x y", broadcast=True)
divide_or_zero_op.vjp(
    x=lambda g, y, ops: ops.divide_or_zero(g, y), y=lambda g, y, out, ops: -ops.divide_or_zero(g * out, y)
)


@public(out=True)
@autocast("float32")
def prod(
    input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The product of all elements, or along one dimension."""
    array = array_of(input, "prod")
    if dtype is not None:
        input, dtype = converted(input, dtype), meant(dtype)
        if dtype.category < 2 and dtype.name != "int64":
            return lifted.cast(prod(input, dim, keepdim, axis=axis, keepdims=keepdims), dtype.numpy)
    dim = dim if axis is None else axis
    if dim is None:
        return prod_all_op.call(input)
    return prod_op.call(input, reduced_dims(single_dim("prod", dim, array.ndim), array.ndim), keepdim or keepdims)


@method()
def sum_to_size(self: Any, *size: Any) -> Any:
    """The sum over what an expansion from `size` would repeat."""
    from ..shapes.shape import ints, reshaped

    shape, wanted = self._array.shape, ints(size)
    extra = len(shape) - len(wanted)
    pairs = list(enumerate(zip(shape[extra:], wanted, strict=True), extra)) if extra >= 0 else [(0, (0, -1))]
    dims = tuple([i for i, (have, n) in pairs if n == 1 != have])
    if len([i for i, (have, n) in pairs if n == have]) + len(dims) < len(pairs):
        raise ShapeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    if not wanted:
        return METHODS["sum"](self)
    if not extra and not dims:
        return self
    total = METHODS["sum"](self, tuple(range(extra)) + dims, True)  # (of integers in int64)
    return reshaped(total, wanted) if extra else total


# Truth ---------------------------------------------------------------------------------------------

any_op = Op("any", "x", "dim keepdim", differentiable=False)
all_op = Op("all", "x", "dim keepdim", differentiable=False)
count_nonzero_op = Op("count_nonzero", "x", "dim", differentiable=False)
hash_tensor_op = Op("hash_tensor", "x", "dim keepdim", differentiable=False, moves=True)


def _truth_dims(name: str, input: Any, dim: Any) -> Any:
    ndim = array_of(input, name).ndim
    return () if dim == () or dim == [] else reduced_dims(dim, ndim)  # no dimensions: nothing is reduced


@public(out=True)
def any(input: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Is any element true?"""
    return any_op.call(input, _truth_dims("any", input, dim if axis is None else axis), keepdim or keepdims)


@public(out=True)
def all(input: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Are all elements true?"""
    return all_op.call(input, _truth_dims("all", input, dim if axis is None else axis), keepdim or keepdims)


@public()
@with_numpys_names
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """How many elements are not zero."""
    return count_nonzero_op.call(input, reduced_dims(dim, array_of(input, "count_nonzero").ndim))


@public(out=True)
@with_numpys_names
def hash_tensor(input: Any, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Any:
    """The bits of all elements, as numbers of 64 bits, exclusive-ored."""
    array = array_of(input, "hash_tensor")
    if mode != 0:
        raise EngineError(f"Unknown hash_tensor mode: {mode}")
    if input.is_complex():
        raise NotSupportedError(f"\"xor_sum_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    dims = reduced_dims(dim, array.ndim)
    if not array.size:
        if dims is None:
            raise EngineError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with "
                "the 'dim' argument."
            )
        for each in dims:
            if not array.shape[each]:
                raise ArgumentIndexError(f"hash_tensor: Expected reduction dim {each} to have non-zero size.")
    return hash_tensor_op.call(input, dims, bool(keepdim))

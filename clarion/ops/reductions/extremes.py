"""Largest and smallest elements. A gradient goes to the one `indices` names, or is shared evenly among ties."""

from __future__ import annotations

from typing import Any

from ...core import return_types
from ...core.description import normalize_dim, single_dim
from ...core.dtypes import FROM_NUMPY
from ...core.namespace import OPS
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, EngineError, NotSupportedError
from ..faces.api import public
from ..faces.strict_out import strict_out
from .sums import array_of, reduced_dims, restore_dims

# Gradients -----------------------------------------------------------------------------------------

tie_share_op = Op("tie_share", "x extreme", "dim", differentiable=False)

pick_along_op = Op("pick_along", "x index", "dim keepdim")
pick_along_op.vjp(
    x=lambda g, index, dim, keepdim, x_shape, ops: ops.place_along(g, index, x_shape, dim, keepdim),
).jvp("each")

place_along_op = Op("place_along", "g index", "shape dim keepdim")
place_along_op.vjp(g=lambda g, index, dim, keepdim, ops: ops.pick_along(g, index, dim, keepdim)).jvp("each")


def shared(g: Any, x: Any, out: Any, x_shape: Any, dim: Any, keepdim: bool, ops: Any) -> Any:
    """A gradient shared evenly among the elements equal to the extreme."""
    extreme = restore_dims(out, x_shape, dim, keepdim, ops)
    return restore_dims(g, x_shape, dim, keepdim, ops) * ops.tie_share(x, extreme, dim)


def _to_index(g: Any, indices: Any, x_shape: Any, dim: int, keepdim: bool, ops: Any) -> Any:
    return ops.place_along(g, indices, x_shape, dim, keepdim)


def _aminmax_grad(g: Any, x: Any, low: Any, high: Any, x_shape: Any, dim: Any, keepdim: bool, ops: Any) -> Any:
    parts = [
        shared(each, x, out, x_shape, dim, keepdim, ops)
        for each, out in zip(g, (low, high), strict=True)
        if each is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


# Operations ----------------------------------------------------------------------------------------

max_all_op = Op("max_all", "x", node="MaxBackward1", traits="extreme")
max_all_op.vjp(x=lambda g, x, out, x_shape, ops: shared(g, x, out, x_shape, None, False, ops))

min_all_op = Op("min_all", "x", node="MinBackward1", traits="extreme")
min_all_op.vjp(x=lambda g, x, out, x_shape, ops: shared(g, x, out, x_shape, None, False, ops))

max_dim_op = Op("max_dim", "x", "dim keepdim", outputs="out indices", node="MaxBackward0", traits="extreme")
max_dim_op.vjp(x=_to_index)

min_dim_op = Op("min_dim", "x", "dim keepdim", outputs="out indices", node="MinBackward0", traits="extreme")
min_dim_op.vjp(x=_to_index)

amax_op = Op("amax", "x", "dim keepdim", traits="extreme")
amax_op.vjp(x=shared)

amin_op = Op("amin", "x", "dim keepdim", traits="extreme")
amin_op.vjp(x=shared)

aminmax_op = Op("aminmax", "x", "dim keepdim", outputs="low high", grad_outputs=(0, 1), traits="extreme")
aminmax_op.vjp(x=_aminmax_grad)

argmax_op = Op("argmax", "x", "dim keepdim", differentiable=False)
argmin_op = Op("argmin", "x", "dim keepdim", differentiable=False)


# Public faces --------------------------------------------------------------------------------------


def _refuse_complex(name: str, array: Any) -> None:
    if array.dtype.kind == "c":
        raise EngineError(f"{name}(): does not support complex input: complex numbers have no order")


def _refuse_order(kernel: str, array: Any) -> None:
    if array.dtype.kind == "c":
        raise NotSupportedError(f"\"{kernel}\" not implemented for '{FROM_NUMPY[array.dtype].old}': it has no order")


def _refuse_empty(name: str, array: Any, dims: tuple[int, ...] | None, error: type[Exception]) -> None:
    """Raise if there is nothing to choose from."""
    if array.size:
        return
    if dims is None and name == "aminmax":
        raise error("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if dims is None:
        raise error(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    for d in dims or ():
        if array.shape[d] == 0:
            shown = name if name == "aminmax" else f"{name}()"
            raise ArgumentIndexError(f"{shown}: Expected reduction dim {d} to have non-zero size.")


def _extreme(name: str, input: Any, dim: Any, keepdim: Any, other: Any) -> Any:
    array = array_of(input, name)
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        return OPS["maximum" if name == "max" else "minimum"].call(input, other)
    if array.dtype.kind == "c":
        _refuse_order(name + "_all" if dim is None else name, array)
    if dim is None:
        _refuse_empty(name, array, None, EngineError)
        return OPS[name + "_all"].call(input)
    dim = normalize_dim(dim, array.ndim)
    if not array.size:
        _refuse_empty(name, array, (dim,), EngineError)
    return getattr(return_types, name)(*OPS[name + "_dim"].call(input, dim, keepdim))


def _one_dim(name: str, dim: Any) -> None:
    if isinstance(dim, (tuple, list)):
        raise ArgumentTypeError(
            f"{name}() received an invalid combination of arguments - got ({type(dim).__name__}), but it takes one dimension; "
            f"a{name} takes several"
        )


@public(out=True)
def max(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The largest element; (values, indices) along a dimension; elementwise with another tensor."""
    if dim is other is axis is None and type(input) is Tensor and input._array.size and input._array.dtype.kind != "c":
        return max_all_op.call(input)
    _one_dim("max", dim)
    return _extreme("max", input, dim if axis is None else axis, keepdim or keepdims, other)


@public(out=True)
def min(
    input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, axis: Any = None, keepdims: bool = False
) -> Any:
    """The smallest element; (values, indices) along a dimension; elementwise with another tensor."""
    if dim is other is axis is None and type(input) is Tensor and input._array.size and input._array.dtype.kind != "c":
        return min_all_op.call(input)
    _one_dim("min", dim)
    return _extreme("min", input, dim if axis is None else axis, keepdim or keepdims, other)


@public(out=True)
def amax(input: Any, dim: Any = (), keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest elements along dimensions; ties share the gradient evenly."""
    array = array_of(input, "amax")
    _refuse_order("max_values_cpu", array)
    dims = reduced_dims(dim if axis is None else axis, array.ndim)
    _refuse_empty("amax", array, dims, EngineError)
    return amax_op.call(input, dims, keepdim or keepdims)


@public(out=True)
def amin(input: Any, dim: Any = (), keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest elements along dimensions; ties share the gradient evenly."""
    array = array_of(input, "amin")
    _refuse_order("min_values_cpu", array)
    dims = reduced_dims(dim if axis is None else axis, array.ndim)
    _refuse_empty("amin", array, dims, EngineError)
    return amin_op.call(input, dims, keepdim or keepdims)


@public(out=True)
def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest and the largest element, of all or along a dimension."""
    array = array_of(input, "aminmax")
    if input.is_complex():
        raise NotSupportedError(f"\"aminmax_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    dims = reduced_dims(dim if axis is None else axis, array.ndim)
    _refuse_empty("aminmax", array, dims, EngineError)
    return return_types.aminmax(*aminmax_op.call(input, dims, keepdim or keepdims))


strict_out("aminmax", alike=True)


def _arg(op: Op, input: Any, dim: Any, keepdim: bool) -> Any:
    array = array_of(input, op.name)
    dims = dim if dim is None or (type(dim) is int and 0 <= dim < array.ndim) else single_dim(op.name, dim, array.ndim)
    _refuse_complex(op.name, array)
    if array.dtype.kind == "b":
        raise EngineError(f"{op.name}(): does not support bool input\nConvert it first: x.int().{op.name}(…)")
    _refuse_empty(op.name, array, dims if dims is None else (dims,), ArgumentIndexError)
    return op.call(input, dims, keepdim)


@public(out=True)
def argmax(input: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the (first) largest element is."""
    return _arg(argmax_op, input, dim if axis is None else axis, keepdim or keepdims)


@public(out=True)
def argmin(input: Any, dim: Any = None, keepdim: bool = False, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the (first) smallest element is."""
    return _arg(argmin_op, input, dim if axis is None else axis, keepdim or keepdims)

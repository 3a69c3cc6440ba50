"""Elements that a mask names: masked_select, masked_scatter, nonzero."""

from __future__ import annotations

import functools
from typing import Any

from ...core import modes
from ...core.devices import HOST, kind_of, visible, xp_of
from ...core.dtypes import FROM_NUMPY, b1, broadcast_shapes, i64
from ...core.messages import broadcast_error
from ...core.op import Op
from ...core.tensor import created
from ...errors import DtypeError, EngineError
from ...events import hub
from ...kernels.batched.levels import Mapped
from ..faces.api import FUNCTIONS, call, public
from ..faces.samples import each_sample
from ..faces.strict_out import strict_out
from .scatter import tensor_argument

masked_select_op = Op("masked_select", "x mask", moves=True, traits="rearranges selects")
masked_select_op.vjp(
    x=lambda g, mask, x_shape, ops: ops.sum_to(ops.masked_select_backward(g, mask, x_shape), x_shape)
).jvp("each")

masked_select_backward_op = Op("masked_select_backward", "g mask", "shape", node="MaskedScatterBackward0", moves=True)
masked_select_backward_op.vjp(g=lambda g, mask, ops: ops.masked_select(g, mask)).jvp("each")

masked_scatter_op = Op("masked_scatter", "x mask source", moves=True)
masked_scatter_op.vjp(
    x=lambda g, mask, x_shape, ops: ops.sum_to(ops.where(mask, 0, g), x_shape),
    source=lambda g, mask, source_shape, ops: ops.masked_scatter_backward(g, mask, source_shape),
)

masked_scatter_backward_op = Op("masked_scatter_backward", "x mask", "shape", moves=True)
masked_scatter_backward_op.vjp(x=lambda g, mask, x_shape, ops: ops.masked_scatter_backward_backward(g, mask, x_shape))
masked_scatter_backward_backward_op = Op(
    "masked_scatter_backward_backward", "x mask", "shape", node="MaskedScatterBackward0", moves=True
)
masked_scatter_backward_backward_op.vjp(x=lambda g, mask, x_shape, ops: ops.masked_scatter_backward(g, mask, x_shape))

nonzero_op = Op("nonzero", "x", moves=True, differentiable=False)


@public(out=True)
def masked_select(input: Any, mask: Any) -> Any:
    """The elements of `input` where `mask` is True, as a vector."""
    tensor_argument("masked_select", "input", 1, input)
    tensor_argument("masked_select", "mask", 2, mask)
    if mask._array.dtype != b1:
        raise DtypeError("masked_select: expected BoolTensor for mask")
    _check_broadcast(mask, input)
    return masked_select_op.call(input, mask)


def _check_broadcast(a: Any, b: Any) -> tuple[int, ...]:
    try:
        return broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        raise broadcast_error(a._array.shape, b._array.shape) from None


@public(inplace=True)
def masked_scatter(input: Any, mask: Any, source: Any, *, run: Any = call) -> Any:
    """`input` with the elements of `source`, one after the other, where `mask` is True."""
    for position, (what, each) in enumerate((("input", input), ("mask", mask), ("source", source))):
        tensor_argument("masked_scatter", what, position + 1, each)
    if input._array.dtype != source._array.dtype:
        raise DtypeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{FROM_NUMPY[input._array.dtype].old} and {FROM_NUMPY[source._array.dtype].old}"
        )
    if mask._array.dtype != b1:
        raise DtypeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {FROM_NUMPY[mask._array.dtype].old}"
        )
    shape = _check_broadcast(mask, input)
    if visible(mask._array) and source._array.size < HOST.xp.count_nonzero(HOST.xp.broadcast_to(mask._array, shape)):
        raise EngineError("Number of elements of source < number of ones in mask")
    return run(masked_scatter_op, input, mask, source)


@public(out=True)
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The places of the elements that are not zero: one row each, or one vector per dimension."""
    tensor_argument("nonzero", "input", 1, input)
    if not as_tuple:
        return nonzero_op.call(input)
    array = input._array if input._array.ndim else input._array.reshape(1)
    found = tuple([created(places.copy()) for places in xp_of(array).nonzero(array)])
    if modes.special and hub.applied is not None:
        hub.applied(nonzero_op, (input,), (), found)
    return found


@public()
def argwhere(input: Any) -> Any:
    """The places of the elements that are not zero, one row each."""
    tensor_argument("argwhere", "input", 1, input)
    return nonzero_op.call(input)


@public(out=True)
def nonzero_static(input: Any, *, size: int, fill_value: int = -1) -> Any:
    """The first `size` rows of `nonzero`; if there are fewer, `fill_value` in the rest."""
    tensor_argument("nonzero_static", "input", 1, input)
    if size < 0:
        raise EngineError("nonzero_static: 'size' must be an non-negative integer")
    if isinstance(input._array, Mapped):
        return each_sample(lambda x: nonzero_static(x, size=size, fill_value=fill_value), input)
    xp = xp_of(input._array)
    padded = xp.full((size, input._array.ndim), fill_value, i64)
    if not kind_of(input._array).draws:  # no values at all
        return created(padded)
    found = nonzero_op.call(input)._array[:size]
    padded[: len(found)] = found
    return created(padded)


_nonzero = FUNCTIONS["nonzero"]


@functools.wraps(_nonzero)
def _nonzero_checked(*args: Any, out: Any = None, **kwargs: Any) -> Any:
    if out is None:
        return _nonzero(*args, **kwargs)
    if kwargs.get("as_tuple"):
        raise EngineError("nonzero does not support the out kwarg when as_tuple is True")
    if out._array.dtype != i64:
        raise DtypeError(
            f"nonzero: Expected out tensor to have scalar type Long but got scalar type{FROM_NUMPY[out._array.dtype].old}"
        )
    return _nonzero(*args, out=out, **kwargs)


FUNCTIONS.replace("nonzero", _nonzero_checked)
strict_out("masked_select", apart=True)

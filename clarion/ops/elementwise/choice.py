"""Choosing between values: where, clamp, minimum and maximum, masks, and writing over."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.devices import HOST, kind_of, xp_of
from ...core.dtypes import b1, f32, f64, result_type, uint8
from ...core.general_call import general_call
from ...core.inplace import inplace, refuse, wrote
from ...core.op import Op
from ...core.op_node import cast as cast_array
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, EngineError, NotSupportedError, ShapeError
from ..faces.api import FUNCTIONS, METHODS, call, method, public
from ..faces.typed import TypedOp, need_tensors, show_edges
from .cast import cast, cast_filling, cast_number, transfer

# where ---------------------------------------------------------------------------------------------


class WhereOp(Op):
    """The condition takes no part in promotion."""

    checks_types = True

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        """The condition as it is, the choices in their common type."""
        arrays = [t._array if isinstance(t, Tensor) else t for t in operands]
        condition, x, y = arrays
        kind = result_type((x, y))
        return [condition, cast_array(x, kind), cast_array(y, kind)], None


where_op = WhereOp("where", "condition x y", pointwise=True, moves=True, traits="selects")
where_op.vjp(
    x=lambda g, condition, ops: ops.where(condition, g, 0),
    y=lambda g, condition, ops: ops.where(condition, 0, g),
).jvp("together")
show_edges(where_op, 1, 2)


@public("where", method=False, out=True)
def where(condition: Any, input: Any = ..., other: Any = ..., **renamed: Any) -> Any:
    """`input` where `condition` holds, else `other`; where(condition) alone: the indices where it holds."""
    if (
        type(condition) is type(input) is type(other) is Tensor
        and condition._array.dtype is b1
        and input._array.dtype is other._array.dtype
        and not renamed
    ):
        return where_op.call(condition, input, other)
    if "self" in renamed and input is ...:
        input = renamed.pop("self")
    if input is ... and other is ... and not renamed:
        return FUNCTIONS["nonzero"](condition, as_tuple=True)
    if input is ... or other is ... or renamed or not isinstance(condition, Tensor):
        raise ArgumentTypeError(
            "where() received an invalid combination of arguments: it takes where(condition) or where(condition, input, other)"
        )
    kind = condition._array.dtype
    if kind is not b1:
        if kind != uint8.numpy:
            raise EngineError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.old}"
            )
        condition = cast(condition, b1)
    if isinstance(input, Tensor) and isinstance(other, Tensor) and input._array.dtype is not other._array.dtype:
        return general_call(where_op, (condition, input, other))
    if type(other) is not Tensor or type(input) is not Tensor:
        input, other = _fitting(input, other), _fitting(other, input)
    return where_op.call(condition, input, other)


def _fitting(number: Any, beside: Any) -> Any:
    """A number as an element of what it makes beside a tensor: one that does not fit is refused."""
    if isinstance(beside, Tensor) and type(number) in (int, float, complex):
        return cast_filling(number, result_type((number, beside._array)))
    return number


@method("where")
def where_method(self: Any, condition: Any = ..., other: Any = ...) -> Any:
    """The tensor where `condition` holds, else `other`."""
    if condition is ... or other is ...:
        raise ArgumentTypeError(
            "where() received an invalid combination of arguments: a tensor's takes where(condition, other)"
        )
    return where(condition, self, other)


# clamp ---------------------------------------------------------------------------------------------


def within(g: Any, x: Any, low: Any, high: Any, ops: Any) -> Any:
    """The gradient where x lies between the bounds, or on one."""
    if low is None:
        return ops.where(x <= high, g, 0)
    return ops.where(x >= low if high is None else (x >= low) & (x <= high), g, 0)


def to_low(g: Any, x: Any, low: Any, high: Any, ops: Any) -> Any:
    """The gradient of the lower bound: where it was taken."""
    return ops.where(x < low if high is None else (low < high) & (x < low), g, 0)


def to_high(g: Any, x: Any, low: Any, high: Any, ops: Any) -> Any:
    """The gradient of the upper bound: where it was taken; it wins over a lower bound above it."""
    return ops.where(x > high if low is None else (x > high) | (high < low), g, 0)


NO_COMPLEX = "clamp is not supported for complex types"

clamp_op = TypedOp(
    "clamp",
    "x low? high?",
    node="ClampBackward1",
    promote="common",
    broadcast=True,
    traits="clamps",
    saved_as={"min": "low", "max": "high"},
)
clamp_op.vjp(x=lambda g, x, low, high, ops: within(g, x, low, high, ops))
show_edges(clamp_op, 0)

clamp_tensor_op = TypedOp(
    "clamp_tensor",
    "x low? high?",
    node="ClampBackward0",
    promote="common",
    pointwise=True,
    traits="clamps",
)
clamp_tensor_op.vjp(
    x=lambda g, x, low, high, ops: within(g, x, low, high, ops),
    low=lambda g, x, low, high, ops: to_low(g, x, low, high, ops),
    high=lambda g, x, low, high, ops: to_high(g, x, low, high, ops),
)

clamp_min_op = TypedOp("clamp_min", "x y", elementwise=True, promote="common", traits="clamps")
clamp_min_op.vjp(x=lambda g, x, y, ops: ops.where(x >= y, g, 0))
clamp_max_op = TypedOp("clamp_max", "x y", elementwise=True, promote="common", traits="clamps")
clamp_max_op.vjp(x=lambda g, x, y, ops: ops.where(x <= y, g, 0))

clamp_min_tensor_op = TypedOp(
    "clamp_min_tensor",
    "x y",
    node="ClampMinBackward1",
    elementwise=True,
    promote="common",
    traits="clamps",
)
clamp_min_tensor_op.vjp(
    x=lambda g, x, y, ops: ops.where(x >= y, g, 0),
    y=lambda g, x, y, ops: ops.where(x < y, g, 0),
)
clamp_max_tensor_op = TypedOp(
    "clamp_max_tensor",
    "x y",
    node="ClampMaxBackward1",
    elementwise=True,
    promote="common",
    traits="clamps",
)
clamp_max_tensor_op.vjp(
    x=lambda g, x, y, ops: ops.where(x <= y, g, 0),
    y=lambda g, x, y, ops: ops.where(x > y, g, 0),
)
for _op in (
    clamp_op,
    clamp_tensor_op,
    clamp_min_op,
    clamp_max_op,
    clamp_min_tensor_op,
    clamp_max_tensor_op,
):
    _op.refusing("c", NotSupportedError(NO_COMPLEX))
show_edges(clamp_min_op, 0)
show_edges(clamp_max_op, 0)


@public(inplace=True, out=True, aliases=("clip",))
def clamp(input: Any, min: Any = None, max: Any = None, *, run: Any = call) -> Any:
    """`input`, but at least `min` and at most `max`: numbers, or tensors that broadcast."""
    if run is inplace:
        if not modes.special and clamp_op.quick_write(input, min, max) is not None:
            return input
    elif (
        run is call
        and type(min) is type(max) is float
        and type(input) is Tensor
        and (input._array.dtype is f32 or input._array.dtype is f64)
        and -6e4 < min < 6e4
        and -6e4 < max < 6e4
    ):
        return clamp_op.call(input, min, max)
    if min is None and max is None:
        raise EngineError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if all(bound is None or isinstance(bound, Tensor) for bound in (min, max)):
            return run(clamp_tensor_op, input, min, max)
        min, max = (_as_number(bound) for bound in (min, max))  # a tensor of no dimension may stand for a number
        if isinstance(min, Tensor) or isinstance(max, Tensor):
            raise ArgumentTypeError(
                "clamp() received an invalid combination of arguments: min and max must both be numbers or both Tensors"
            )
    if input._array.dtype.kind in "iu":  # a whole number stays in the type of the tensor, and must fit
        min, max = (cast_number(n, input._array.dtype) if type(n) is int else n for n in (min, max))
    else:
        for n in (min, max):
            if n is not None and not -6e4 < n < 6e4:
                cast_number(n, input._array.dtype)
    return run(clamp_op, input, min, max)


def _as_number(bound: Any) -> Any:
    return bound.item() if isinstance(bound, Tensor) and not bound.ndim and not bound.requires_grad else bound


@public(inplace=True, out=True)
def clamp_min(input: Any, min: Any, *, run: Any = call) -> Any:
    """`input`, but at least `min`."""
    need_tensors("clamp_min", input)
    return run(clamp_min_tensor_op if isinstance(min, Tensor) else clamp_min_op, input, min)


@public(inplace=True, out=True)
def clamp_max(input: Any, max: Any, *, run: Any = call) -> Any:
    """`input`, but at most `max`."""
    need_tensors("clamp_max", input)
    return run(clamp_max_tensor_op if isinstance(max, Tensor) else clamp_max_op, input, max)


# The smaller, the larger ---------------------------------------------------------------------------

minimum_op = TypedOp("minimum", "x y", elementwise=True, promote="common", traits="clamps")
minimum_op.vjp(
    x=lambda g, x, y, ops: ops.where(x == y, g / 2, ops.where(x > y, 0, g)),
    y=lambda g, x, y, ops: ops.where(x == y, g / 2, ops.where(x < y, 0, g)),
)
maximum_op = TypedOp("maximum", "x y", elementwise=True, promote="common", traits="clamps")
maximum_op.vjp(
    x=lambda g, x, y, ops: ops.where(x == y, g / 2, ops.where(x < y, 0, g)),
    y=lambda g, x, y, ops: ops.where(x == y, g / 2, ops.where(x > y, 0, g)),
)
# fmin and fmax: a NaN loses, and ties go to the first.
fmin_op = TypedOp("fmin", "x y", elementwise=True, promote="common", traits="clamps")
fmin_op.vjp(
    x=lambda g, x, y, ops: ops.where((x <= y) | ops.isnan(y), g, 0),
    y=lambda g, x, y, ops: ops.where((x <= y) | ops.isnan(y), 0, g),
)
fmax_op = TypedOp("fmax", "x y", elementwise=True, promote="common", traits="clamps")
fmax_op.vjp(
    x=lambda g, x, y, ops: ops.where((x >= y) | ops.isnan(y), g, 0),
    y=lambda g, x, y, ops: ops.where((x >= y) | ops.isnan(y), 0, g),
)
for _op in (minimum_op, maximum_op, fmin_op, fmax_op):
    _op.refusing("c", f"{_op.name} not implemented for complex tensors.")


def _pair(op: Op, words: str) -> Any:
    name = op.name

    @public(name, out=True)
    def choose(input: Any, other: Any) -> Any:
        if not isinstance(other, Tensor) or not isinstance(input, Tensor):
            need_tensors(name, input, other)
        return op.call(input, other)

    choose.__doc__ = words
    return choose


minimum = _pair(minimum_op, "The smaller of two, element by element; NaN wins.")
maximum = _pair(maximum_op, "The larger of two, element by element; NaN wins.")
fmin = _pair(fmin_op, "The smaller of two, element by element; a number wins over NaN.")
fmax = _pair(fmax_op, "The larger of two, element by element; a number wins over NaN.")

# Masks ---------------------------------------------------------------------------------------------

masked_fill_op = Op("masked_fill", "x mask value", moves=True, broadcast=True, traits="selects")
masked_fill_op.vjp(x=lambda g, mask, ops: ops.masked_fill(g, mask, 0))
masked_fill_op.jvp(lambda dx, mask, ops: None if dx is None else ops.masked_fill(dx, mask, 0))
show_edges(masked_fill_op, 0)

masked_fill_tensor_op = Op(
    "masked_fill_tensor",
    "x mask value",
    node="MaskedFillBackward1",
    moves=True,
    broadcast=True,
    traits="selects",
)
masked_fill_tensor_op.vjp(
    x=lambda g, mask, ops: ops.masked_fill(g, mask, 0),
    value=lambda g, mask, ops: ops.where(mask, g, 0),
)
show_edges(masked_fill_tensor_op, 0, 2)


@public(inplace=True)
def masked_fill(input: Any, mask: Any, value: Any, *, run: Any = call) -> Any:
    """`input` with `value` (a number or a tensor of one element) where `mask` holds."""
    if run is not call and not modes.special and masked_fill_op.quick_write(input, mask, value) is not None:
        return input
    need_tensors("masked_fill", input, mask)
    if mask._array.dtype is not b1:
        raise EngineError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype}")
    if not isinstance(value, Tensor):
        return run(masked_fill_op, input, mask, cast_number(value, input._array.dtype))
    if value._array.ndim:
        raise EngineError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
    if value._array.dtype is not input._array.dtype and kind_of(value._array) is HOST:
        cast_number(value._array.item(), input._array.dtype)
    if modes.batches and run is call:  # samples may differ in their value alone
        return where(mask, value.to(input.dtype), input)
    return run(masked_fill_tensor_op, input, mask, value)


# Writing over --------------------------------------------------------------------------------------

zero_op = Op("zero", "x", moves=True)
zero_op.vjp(x=lambda g, ops: ops.zero(g))

copy_op = Op("copy", "x source", node="CopyBackwards", moves=True, broadcast=True)
fill_op = Op("fill", "x value", node="FillBackward0", moves=True, broadcast=True)
fill_tensor_op = Op("fill_tensor", "x value", node="FillBackward1", moves=True, broadcast=True)
fill_scalar_into_op = Op("fill_scalar_into", "x value", node="FillBackward2", moves=True, broadcast=True)
fill_tensor_into_op = Op("fill_tensor_into", "x value", node="FillBackward3", moves=True, broadcast=True)
for _writes in (copy_op, fill_op, fill_tensor_op, fill_scalar_into_op, fill_tensor_into_op):
    _writes.vjp(x=lambda g, ops: ops.zero(g), **{_writes.inputs[1]: lambda g: g})
for _writes in (zero_op, copy_op, fill_op, fill_tensor_op, fill_scalar_into_op, fill_tensor_into_op):
    _writes.overwrites = True
copy_op.jvp("together")
show_edges(fill_op, 0)
show_edges(fill_scalar_into_op, 0)


@public("fill", method=False)
def fill(input: Any, value: Any, *, run: Any = call) -> Any:
    """A tensor like `input`, full of `value`."""
    return _fill(run, input, value, fill_op, fill_tensor_op)


def _fill(run: Any, input: Any, value: Any, of_number: Op, of_tensor: Op) -> Any:
    if not isinstance(value, Tensor):
        return run(of_number, input, cast_filling(value, input._array.dtype, input._array.size))
    if value._array.ndim:
        raise EngineError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value._array.ndim} dimensions."
        )
    return run(of_tensor, input, value)


def fill_(self: Any, value: Any) -> Any:
    """Write `value` everywhere."""
    if not modes.special and fill_scalar_into_op.quick_write(self, value) is not None:
        return self
    return _fill(inplace, self, value, fill_scalar_into_op, fill_tensor_into_op)


def zero_(self: Any) -> Any:
    """Write 0 everywhere."""
    if not modes.special and zero_op.quick_write(self) is not None:
        return self
    return inplace(zero_op, self)


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the values of `src`, broadcast and converted to this type."""
    if not modes.special and copy_op.quick_write(self, src) is not None:
        return self
    if src is self:
        refuse(self, "copy_")
        wrote(self)
        return self
    if isinstance(src, Tensor):
        given, own = src._array, self._array
        if given.ndim > own.ndim:
            raise ShapeError(
                f"output with shape {list(own.shape)} doesn't match the broadcast shape {list(given.shape)}"
            )
        if type(given) is not type(own):
            src = transfer(src, kind_of(own))
    elif (
        type(src) is float and self._array.dtype.kind in "iu"
    ):  # (as the processor converts it: NaN, what is too large)
        src = new_tensor(xp_of(self._array).asarray(src))
    return inplace(copy_op, self, src)


for _writer in (fill_, zero_, copy_):
    METHODS[_writer.__name__] = _writer
FUNCTIONS["fill_"], FUNCTIONS["zero_"] = fill_, zero_

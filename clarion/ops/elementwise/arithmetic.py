"""Arithmetic of two or three tensors, or tensors and numbers."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.dtypes import FROM_NUMPY, NumpyNumber, b1, result_type
from ...core.inplace import inplace
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError
from ..faces.api import METHODS, call, public
from ..faces.options import warn_once
from ..faces.typed import TypedOp, need_tensors, no_gradient, show_edges
from .cast import cast_number, check_numbers

BOOL_MINUS = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
MASK_MINUS = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)
BOOL_NEGATION = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
    "`logical_not()` operator instead."
)


class MinusOp(TypedOp):
    """A difference: no operand may be a mask."""

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        """As every operation's, after a look at the types."""
        arrays, half = super().raw_operands(operands)
        if any(isinstance(t, bool) or (isinstance(t, Tensor) and t._array.dtype is b1) for t in operands):
            raise EngineError(MASK_MINUS)
        return arrays, half


# Sums and products ---------------------------------------------------------------------------------

add_op = Op("add", "x y", elementwise=True, promote="common", traits="arithmetic adds", saved_constants={"alpha": 1})
add_op.vjp(x=lambda g: g, y=lambda g: g)

add_scaled_op = Op(
    "add_scaled", "x y", "alpha", node="AddBackward0", pointwise=True, promote="common", traits="arithmetic"
)
add_scaled_op.vjp(x=lambda g: g, y=lambda g, alpha: g * alpha).jvp("together")

sub_op = MinusOp(
    "sub", "x y", elementwise=True, promote="common", traits="arithmetic adds difference", saved_constants={"alpha": 1}
).refusing("b", BOOL_MINUS)
sub_op.vjp(x=lambda g: g, y=lambda g: -g)

sub_scaled_op = MinusOp(
    "sub_scaled", "x y", "alpha", node="SubBackward0", pointwise=True, promote="common", traits="arithmetic difference"
)
sub_scaled_op.refusing("b", BOOL_MINUS).vjp(x=lambda g: g, y=lambda g, alpha: g * -alpha).jvp("together")

rsub_op = MinusOp(
    "rsub",
    "x y",
    node="RsubBackward1",
    elementwise=True,
    promote="common",
    traits="arithmetic adds",
    saved_constants={"alpha": 1},
).refusing("b", BOOL_MINUS)
rsub_op.vjp(x=lambda g: -g)
show_edges(rsub_op, 0)

rsub_scaled_op = MinusOp(
    "rsub_scaled",
    "x y",
    "alpha",
    node="RsubBackward0",
    pointwise=True,
    promote="common",
    traits="arithmetic",
)
rsub_scaled_op.refusing("b", BOOL_MINUS).vjp(x=lambda g, alpha: g * -alpha, y=lambda g: g).jvp("together")

mul_op = Op("mul", "x y", elementwise=True, promote="common", traits="arithmetic multiplies")
mul_op.vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)

neg_op = TypedOp("neg", "x", elementwise=True, promote="common", traits="arithmetic").refusing("b", BOOL_NEGATION)
neg_op.vjp(x=lambda g: -g)


def number(name: str, value: Any) -> Any:
    """A factor that may be given as a tensor of no dimensions, or as NumPy's number (whose type would count)."""
    if not isinstance(value, Tensor):
        return value.item() if isinstance(value, NumpyNumber) else value
    if value._array.ndim or value.requires_grad:
        raise ArgumentTypeError(f"argument '{name}' must be Number, not Tensor")
    return value._array.item()


def old_form(name: str, form: str, value: Any) -> Any:
    """The number of PyTorch's old form of a call, which stands before the tensors; says once that it is old."""
    warn_once(
        f"This overload of {name} is deprecated:\n\t{name}{form}\nConsider giving the number by its keyword instead."
    )
    return value


def check_alpha(operands: tuple[Any, ...], alpha: Any) -> Any:
    """The factor as a number, which must be of a kind that the result can hold."""
    first = operands[0]
    if type(alpha) is int or (type(alpha) is float and isinstance(first, Tensor) and first._array.dtype.kind == "f"):
        if -128 < alpha < 128:  # which every type holds
            return alpha
    alpha = number("alpha", alpha)
    kind = result_type([t._array if isinstance(t, Tensor) else t for t in operands])
    category = FROM_NUMPY[kind].category
    if isinstance(alpha, bool) and category:
        raise EngineError("Boolean alpha only supported for Boolean results.")
    if category < 2 and isinstance(alpha, float):
        raise EngineError("For integral input tensors, argument alpha must not be a floating point number.")
    if category < 3 and isinstance(alpha, complex):
        raise EngineError("For non-complex input tensors, argument alpha must not be a complex number.")
    cast_number(alpha, kind)
    return alpha


@public(inplace=True, out=True)
def add(input: Any, other: Any, _old: Any = None, *, alpha: Any = 1, run: Any = call) -> Any:
    """input + alpha * other."""
    if _old is not None:
        other, alpha = _old, old_form("add", "(Number alpha, Tensor other)", other)
    if alpha == 1 and alpha is not True:
        return run(add_op, input, other)
    return run(add_scaled_op, input, other, check_alpha((input, other), alpha))


@public(inplace=True, out=True, aliases=("subtract",))
def sub(input: Any, other: Any, _old: Any = None, *, alpha: Any = 1, run: Any = call) -> Any:
    """input - alpha * other."""
    if _old is not None:
        other, alpha = _old, old_form("sub", "(Number alpha, Tensor other)", other)
    if alpha == 1 and alpha is not True:
        return run(sub_op, input, other)
    return run(sub_scaled_op, input, other, check_alpha((input, other), alpha))


@public()
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """other - alpha * input."""
    need_tensors("rsub", input)
    if alpha == 1 and not isinstance(other, Tensor):
        return rsub_op.call(input, other)
    return rsub_scaled_op.call(input, other, check_alpha((input, other), alpha))


@public(inplace=True, out=True, aliases=("multiply",))
def mul(input: Any, other: Any, *, run: Any = call) -> Any:
    """input * other."""
    return run(mul_op, input, other)


@public(inplace=True, out=True, aliases=("negative",))
def neg(input: Any, *, run: Any = call) -> Any:
    """-input."""
    return run(neg_op, input)


# In place, as optimizers call it: without the detour over keyword dictionaries.
def add_(self: Any, other: Any, _old: Any = None, *, alpha: Any = 1) -> Any:
    """self += alpha * other."""
    if alpha == 1 and alpha is not True and _old is None:
        if type(other) is int and not modes.special and add_op.quick_write(self, other) is not None:
            return self  # (a counter)
        return inplace(add_op, self, other)
    if _old is None:
        return inplace(add_scaled_op, self, other, check_alpha((self, other), alpha))
    return add(self, other, _old, alpha=alpha, run=inplace)


METHODS.replace("add_", add_)
for _name in ("mul_", "multiply_"):
    METHODS.replace(_name, lambda self, other: inplace(mul_op, self, other))


# Division ------------------------------------------------------------------------------------------

div_op = Op("div", "x y", elementwise=True, promote="float", traits="arithmetic quotient")
div_op.vjp(x=lambda g, y: g / y, y=lambda g, x, y: -g * (x / y) / y)

div_mode_op = Op(
    "div_mode", "x y", node="DivBackward2", elementwise=True, promote="float", traits="arithmetic quotient"
)
div_mode_op.vjp(x=lambda g, y: g / y, y=lambda g, x, y: -g * (x / y) / y)

div_floor_op = TypedOp(
    "div_floor", "x y", node="DivBackward2", elementwise=True, promote="common", traits="arithmetic quotient"
)
div_trunc_op = TypedOp(
    "div_trunc", "x y", node="DivBackward2", elementwise=True, promote="common", traits="arithmetic quotient"
)
for _op in (div_floor_op, div_trunc_op):
    _op.refusing("bc").vjp(x=lambda g, ops: ops.zero(g), y=lambda g, ops: ops.zero(g))

div_trunc_op.rounds_early = True  # PyTorch truncates the rounded quotient

floor_divide_op = TypedOp("floor_divide", "x y", node="NotImplemented", elementwise=True, promote="common")
floor_divide_op.refusing("bc", title="div_floor_cpu").vjp(x=no_gradient("floor_divide"), y=no_gradient("floor_divide"))

remainder_op = TypedOp("remainder", "x y", node="RemainderBackward1", elementwise=True, promote="common")
remainder_op.refusing("bc").vjp(x=lambda g: g, y=lambda g, x, y, ops: -g * ops.div_floor(x, y))

remainder_scalar_op = TypedOp(
    "remainder_scalar",
    "x y",
    node="RemainderBackward0",
    elementwise=True,
    promote="common",
)
remainder_scalar_op.refusing("bc", title="remainder_cpu").vjp(x=lambda g: g)
show_edges(remainder_scalar_op, 0)

remainder_of_op = TypedOp("remainder_of", "x y", node="NotImplemented", elementwise=True, promote="common")
remainder_of_op.refusing("bc", title="remainder_cpu").vjp(y=no_gradient("remainder"))
show_edges(remainder_of_op, 1)

fmod_op = TypedOp("fmod", "x y", node="FmodBackward1", elementwise=True, promote="common")
fmod_op.refusing("bc").vjp(x=lambda g: g, y=lambda g, x, y, ops: -g * ops.div_trunc(x, y))

fmod_scalar_op = TypedOp("fmod_scalar", "x y", node="FmodBackward0", elementwise=True, promote="common")
fmod_scalar_op.refusing("bc", title="fmod_cpu").vjp(x=lambda g: g)
show_edges(fmod_scalar_op, 0)

ROUNDED = {None: div_mode_op, "floor": div_floor_op, "trunc": div_trunc_op}


@public(inplace=True, out=True, aliases=("divide",))
def div(input: Any, other: Any, *, rounding_mode: Any = ..., run: Any = call) -> Any:
    """input / other; rounded towards zero ("trunc") or down ("floor") on demand."""
    if rounding_mode is ...:
        return run(div_op, input, other)
    if rounding_mode not in ROUNDED:
        raise EngineError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return run(ROUNDED[rounding_mode], input, other)


@public(inplace=True, out=True)
def true_divide(input: Any, other: Any, *, run: Any = call) -> Any:
    """input / other."""
    return run(div_op, input, other)


for _name in ("div_", "divide_"):
    METHODS.replace(
        _name,
        lambda self, other, *, rounding_mode=...: (
            inplace(div_op, self, other)
            if rounding_mode is ...
            else div(self, other, rounding_mode=rounding_mode, run=inplace)
        ),
    )


@public(inplace=True, out=True)
def floor_divide(input: Any, other: Any, *, run: Any = call) -> Any:
    """input / other, rounded down. Not differentiable; see div(rounding_mode="floor")."""
    return run(floor_divide_op, input, other)


@public(inplace=True, out=True)
def remainder(input: Any, other: Any, *, run: Any = call) -> Any:
    """What is left of `input` after division, with the sign of `other` (Python's %)."""
    if not isinstance(input, Tensor):
        need_tensors("remainder", other)
        return run(remainder_of_op, input, other)
    return run(remainder_op if isinstance(other, Tensor) else remainder_scalar_op, input, other)


@public(inplace=True, out=True)
def fmod(input: Any, other: Any, *, run: Any = call) -> Any:
    """What is left of `input` after division, with the sign of `input` (C's fmod)."""
    need_tensors("fmod", input)
    return run(fmod_op if isinstance(other, Tensor) else fmod_scalar_op, input, other)


# Three operands ------------------------------------------------------------------------------------

addcmul_op = Op(
    "addcmul",
    "x y z",
    "value",
    defaults=(1,),
    pointwise=True,
    promote="common",
    traits="arithmetic multiplies",
    saved_as={"tensor1": "y", "tensor2": "z"},
)
addcmul_op.vjp(
    x=lambda g: g,
    y=lambda g, z, value: g * (z * value),
    z=lambda g, y, value: g * (y * value),
)

addcdiv_op = Op(
    "addcdiv",
    "x y z",
    "value",
    defaults=(1,),
    pointwise=True,
    promote="float",
    traits="arithmetic quotient",
    saved_as={"tensor1": "y", "tensor2": "z"},
)
addcdiv_op.vjp(
    x=lambda g: g,
    y=lambda g, z, value: g * (value / z),
    z=lambda g, y, z, value: -g * (value * y / (z * z)),
)

lerp_op = TypedOp(
    "lerp", "x end", "weight", node="LerpBackward0", pointwise=True, promote="common", traits="arithmetic"
)
lerp_op.refusing("biu", title="lerp_kernel_scalar")
lerp_op.vjp(x=lambda g, weight: g * (1 - weight), end=lambda g, weight: g * weight).jvp("together")

lerp_tensor_op = TypedOp(
    "lerp_tensor",
    "x end weight",
    node="LerpBackward1",
    pointwise=True,
    promote="common",
    traits="arithmetic",
)
lerp_tensor_op.refusing("biu", title="lerp_kernel_tensor")
lerp_tensor_op.vjp(
    x=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, x, end: g * (end - x),
)


def _factor(input: Any, value: Any) -> Any:
    if (type(value) is int or type(value) is float) and -128 < value < 128:
        return value
    value = number("value", value)
    check_numbers(input, value)
    return value


@public(inplace=True, out=True)
def addcmul(input: Any, tensor1: Any, tensor2: Any, _old: Any = None, *, value: Any = 1, run: Any = call) -> Any:
    """input + value * tensor1 * tensor2."""
    if _old is not None:
        value = old_form("addcmul", "(Number value, Tensor tensor1, Tensor tensor2)", tensor1)
        tensor1, tensor2 = tensor2, _old
    return run(addcmul_op, input, tensor1, tensor2, _factor(input, value))


@public(inplace=True, out=True)
def addcdiv(input: Any, tensor1: Any, tensor2: Any, _old: Any = None, *, value: Any = 1, run: Any = call) -> Any:
    """input + value * tensor1 / tensor2."""
    if _old is not None:
        value = old_form("addcdiv", "(Number value, Tensor tensor1, Tensor tensor2)", tensor1)
        tensor1, tensor2 = tensor2, _old
    if all(isinstance(t, Tensor) and t._array.dtype.kind in "biu" for t in (tensor1, tensor2)):
        raise EngineError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
            "division of tensor1 and tensor2. Convert one of them to a floating type first."
        )
    return run(addcdiv_op, input, tensor1, tensor2, _factor(input, value))


@public(inplace=True, out=True)
def lerp(input: Any, end: Any, weight: Any, *, run: Any = call) -> Any:
    """input + weight * (end - input)."""
    for name, value in (("end", end), ("weight", weight)):
        if isinstance(value, Tensor) and value._array.dtype != input._array.dtype and (name == "end" or value.ndim):
            raise EngineError(f"expected dtype {input.dtype} for `{name}` but got dtype {value.dtype}")
    if isinstance(weight, Tensor):
        return run(lerp_tensor_op, input, end, weight)
    weight = number("weight", weight)
    if type(weight) is not float or not -6e4 < weight < 6e4:
        check_numbers(input, weight, without="biu")
    return run(lerp_op, input, end, weight)


def _written(fn: Any) -> Any:
    """The method that writes in place."""
    return lambda self, tensor1, tensor2, _old=None, *, value=1: fn(
        self, tensor1, tensor2, _old, value=value, run=inplace
    )


METHODS.replace("addcmul_", _written(addcmul))
METHODS.replace("addcdiv_", _written(addcdiv))
METHODS.replace("lerp_", lambda self, end, weight: lerp(self, end, weight, run=inplace))

"""Powers, exponentials, logarithms, signs and tests of one tensor, element by element."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...core import return_types
from ...core.dtypes import b1
from ...core.inplace import inplace
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import DtypeError, EngineError, NotSupportedError, not_a_tensor
from ..faces.api import METHODS, call, public
from ..faces.single import faces
from ..faces.typed import TypedOp

LN2, LN10 = math.log(2), math.log(10)

# The gradient of a function that is flat between its steps: 0, whatever comes in.
flat_op = Op("flat", "g", elementwise=True)
flat_op.vjp(g=lambda g, ops: ops.flat(g))


def step(g: Any, ops: Any) -> Any:
    """The rule of floor, sign, …"""
    return ops.flat(g)


# Exponentials and logarithms -----------------------------------------------------------------------

exp_op = Op("exp", "x", elementwise=True, promote="float", traits="exponential").vjp(x=lambda g, out: g * out)
exp = faces(exp_op, "e ** input.")

exp2_op = Op("exp2", "x", elementwise=True, promote="float", traits="exponential").vjp(x=lambda g, out: g * out * LN2)
exp2 = faces(exp2_op, "2 ** input.")

expm1_op = Op("expm1", "x", elementwise=True, promote="float", traits="exponential").vjp(x=lambda g, out: g * (out + 1))
expm1 = faces(expm1_op, "e ** input - 1, exact near 0.")

log_op = Op("log", "x", elementwise=True, promote="float", traits="log").vjp(x=lambda g, x: g / x)
log = faces(log_op, "The natural logarithm.")

log2_op = Op("log2", "x", elementwise=True, promote="float", traits="log").vjp(x=lambda g, x: g / (x * LN2))
log2 = faces(log2_op, "The logarithm to base 2.")

log10_op = Op("log10", "x", elementwise=True, promote="float", traits="log").vjp(x=lambda g, x: g / (x * LN10))
log10 = faces(log10_op, "The logarithm to base 10.")

log1p_op = Op("log1p", "x", node="Log1PBackward0", elementwise=True, promote="float", traits="size").vjp(
    x=lambda g, x: g / (x + 1)
)
log1p = faces(log1p_op, "log(1 + input), exact near 0.")

# Powers ---------------------------------------------------------------------------------------------

sqrt_op = Op("sqrt", "x", elementwise=True, promote="float", traits="root").vjp(x=lambda g, out: g / (2 * out))
sqrt = faces(sqrt_op, "The square root.")

rsqrt_op = Op("rsqrt", "x", elementwise=True, promote="float", traits="root").vjp(
    x=lambda g, out: g * (out * out * out * -0.5)
)
rsqrt = faces(rsqrt_op, "1 / sqrt(input).")

reciprocal_op = Op("reciprocal", "x", elementwise=True, promote="float", traits="arithmetic quotient").vjp(
    x=lambda g, out: g * -(out * out)
)
reciprocal = faces(reciprocal_op, "1 / input.")

square_op = Op(
    "square",
    "x",
    node="PowBackward0",
    elementwise=True,
    traits="multiplies power size",
    saved_constants={"exponent": 2},
).vjp(x=lambda g, x: g * (x * 2))
square = faces(square_op, "input ** 2.")

# Absolute value and sign ----------------------------------------------------------------------------

abs_op = TypedOp("abs", "x", elementwise=True, conj=False, traits="size").refusing("b")
abs_op.vjp(x=lambda g, x, ops: g * ops.sgn(x))
abs = faces(abs_op, "The absolute value.", "absolute", writes=False)


@public("abs_", aliases=("absolute_",))
def abs_(input: Any) -> Any:
    """The absolute value, in place."""
    if isinstance(input, Tensor) and input.is_complex():
        raise EngineError("In-place abs is not supported for complex tensors.")
    return inplace(abs_op, input)


METHODS["__abs__"] = abs_op.call

sign_op = TypedOp("sign", "x", elementwise=True).refusing("c")
sign_op.complaint = NotSupportedError(
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
)
sign_op.vjp(x=step)
sign = faces(sign_op, "-1, 0 or 1.")


def sgn_rule(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """Only the part of g across x turns the sign; 0 at 0. Of real numbers nothing is left."""
    size = ops.abs(x)
    across = g - out * ops.real(g * ops.conj(out))
    return across * (size != 0) / (size + (size == 0))


sgn_op = Op("sgn", "x", elementwise=True, conj=False).vjp(x=sgn_rule)
sgn = faces(sgn_op, "The sign; of a complex number input / |input|.")

signbit_op = TypedOp("signbit", "x", elementwise=True, differentiable=False).refusing("c")
signbit_op.complaint = NotSupportedError("signbit is not implemented for complex tensors.")
signbit = faces(signbit_op, "Is the sign bit set (also of -0.0)?", writes=False)


@public()
def positive(input: Any) -> Any:
    """input, as it is."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("positive", "input", input, 1)
    if input._array.dtype == b1:
        raise EngineError("The `+` operator, on a bool tensor is not supported.")
    return input


METHODS["__pos__"] = positive

# Tests of numbers -----------------------------------------------------------------------------------

isnan_op = Op("isnan", "x", elementwise=True, differentiable=False)
isnan = faces(isnan_op, "Is it nan?", writes=False, out=False)
isinf_op = Op("isinf", "x", elementwise=True, differentiable=False)
isinf = faces(isinf_op, "Is it inf or -inf?", writes=False, out=False)
isfinite_op = Op("isfinite", "x", elementwise=True, differentiable=False)
isfinite = faces(isfinite_op, "Is it neither infinite nor nan?", writes=False, out=False)
isreal_op = Op("isreal", "x", elementwise=True, differentiable=False)
isreal = faces(isreal_op, "Is the imaginary part 0?", writes=False, out=False)

isposinf_op = TypedOp("isposinf", "x", elementwise=True, differentiable=False)
isposinf_op.refusing("c", "isposinf does not support complex inputs.")
isposinf = faces(isposinf_op, "Is it inf?", writes=False)

isneginf_op = TypedOp("isneginf", "x", elementwise=True, differentiable=False)
isneginf_op.refusing("c", "isneginf does not support complex inputs.")
isneginf = faces(isneginf_op, "Is it -inf?", writes=False)

nan_to_num_op = Op("nan_to_num", "x", "nan posinf neginf", elementwise=True, traits="selects")
nan_to_num_op.vjp(x=lambda g, x, ops: g * ops.isfinite(x))


@public(inplace=True, out=True)
def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None, *, run: Any = call) -> Any:
    """input with nan, inf and -inf replaced (by 0 and the extreme finite values of the type)."""
    if isinstance(input, Tensor) and input.is_floating_point() and (posinf is None or neginf is None):
        limit = finite_limit(input._array.dtype)
        posinf, neginf = limit if posinf is None else posinf, -limit if neginf is None else neginf
    return run(nan_to_num_op, input, 0.0 if nan is None else nan, posinf, neginf)


@functools.cache
def finite_limit(dtype: Any) -> float:
    """The largest finite number of a floating type."""
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype).max)


frexp_op = Op("frexp", "x", outputs="mantissa exponent")
frexp_op.vjp(x=lambda g, exponent, ops: ops.ldexp(g, -exponent))


@public(out=True)
def frexp(input: Any) -> Any:
    """A mantissa in [0.5, 1) and an exponent of 2 with mantissa * 2**exponent = input."""
    if input._array.dtype.kind not in "fV":
        raise DtypeError("torch.frexp() only supports floating-point dtypes")
    return return_types.frexp(frexp_op.call(input))

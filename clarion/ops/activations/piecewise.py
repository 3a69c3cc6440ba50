"""Activation functions made of straight pieces: their gradients pass or stop g, and do not bend with x (`step`)."""

from __future__ import annotations

import math
from typing import Any

from ...core import modes
from ...core.devices import HOST, kind_of, to_host
from ...core.dtypes import COMPLEX, f64
from ...core.inplace import inplace as write
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import EngineError, NotSupportedError, not_a_tensor
from ...kernels.batched.levels import open_levels
from ...kernels.random import default_generator, uniform
from ..elementwise.cast import cast_number, check_numbers
from ..elementwise.trig import tanh
from ..elementwise.unary import step
from ..faces.api import NN_FUNCTIONAL, call, functional, public
from ..faces.autocast import autocast
from ..faces.single import faces
from ..faces.typed import TypedOp

NN_FUNCTIONAL["tanh"] = tanh

# ReLU and its kin ----------------------------------------------------------------------------------


class ReluOp(TypedOp):
    """Refuses booleans, and complex numbers in the words of another operation."""

    def raw_operands(self, operands: list[Any]) -> tuple[list[Any], Any]:
        arrays, half = super().raw_operands(operands)
        if arrays[0].dtype in COMPLEX:
            raise NotSupportedError("clamp is not supported for complex types")
        return arrays, half


relu_op = ReluOp("relu", "x", elementwise=True, traits="activation rectifier").refusing(
    "b", "Boolean inputs not supported for relu"
)
relu_op.vjp(x=lambda g, out, ops: ops.relu_backward(g, out))
faces(relu_op, "The positive part.")

relu_backward_op = Op("relu_backward", "gy out", outputs="gx", node="ThresholdBackwardBackward0", elementwise=True)
relu_backward_op.vjp(gy=lambda g, out, ops: ops.relu_backward(g, out), out=step)


@functional()
def relu(input: Any, inplace: bool = False) -> Any:
    """The positive part."""
    return write(relu_op, input) if inplace else relu_op.call(input)


@functional("relu_")
def relu_(input: Any) -> Any:
    """The positive part, in place."""
    return write(relu_op, input)


leaky_relu_op = TypedOp(
    "leaky_relu", "x", "slope", elementwise=True, saved_as={"negative_slope": "slope"}, traits="activation rectifier"
)
leaky_relu_op.refusing("biuc").vjp(x=lambda g, x, slope, ops: ops.leaky_relu_backward(g, x, slope))

leaky_relu_backward_op = Op("leaky_relu_backward", "gy x", "slope", node="LeakyReluBackwardBackward0", elementwise=True)
leaky_relu_backward_op.vjp(gy=lambda g, x, slope, ops: ops.leaky_relu_backward(g, x, slope), x=step)


def leaky_relu_written_rule(g: Any, out: Any, slope: float, ops: Any) -> Any:
    """From the result, whose sign tells the sign of the input unless the slope is negative."""
    if slope < 0:
        raise EngineError(
            "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is "
            "caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
        )
    return ops.leaky_relu_backward(g, out, slope)


leaky_relu_written_op = TypedOp(
    "leaky_relu_written", "x", "slope", node="LeakyReluBackward1", elementwise=True, traits="activation rectifier"
)
leaky_relu_written_op.refusing("biuc", title="leaky_relu_cpu").vjp(x=leaky_relu_written_rule)


@functional()
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """input where positive, else negative_slope * input."""
    if not -6e4 < negative_slope < 6e4:
        check_numbers(input, negative_slope, without="biuc")
    return leaky_relu_(input, negative_slope) if inplace else leaky_relu_op.call(input, negative_slope)


@functional("leaky_relu_")
def leaky_relu_(input: Any, negative_slope: float = 0.01) -> Any:
    """leaky_relu, in place."""
    check_numbers(input, negative_slope, without="biuc")
    return write(leaky_relu_written_op, input, negative_slope)


prelu_op = TypedOp(
    "prelu", "x weight", node="PreluKernelBackward0", elementwise=True, traits="layer activation"
).refusing("biuc")
prelu_op.vjp(lambda g, x, weight, ops: ops.prelu_backward(g, x, weight))

prelu_backward_op = Op(
    "prelu_backward", "gy x weight", outputs="gx gw", grad_outputs=(0, 1), node="PreluKernelBackwardBackward0",
    broadcast=True,
)  # fmt: skip
prelu_backward_op.vjp(lambda g, gy, x, weight, ops: prelu_backward_rule(g, gy, x, weight, ops))


def prelu_backward_rule(g: Any, gy: Any, x: Any, weight: Any, ops: Any) -> Any:
    """The gradients are (gy or weight gy, 0 or x gy), by the sign of x."""
    gx, gw = g
    negative = x <= 0
    by_gy = by_x = by_weight = None
    if gx is not None:
        by_x = ops.flat(gx)
        by_gy = gx * (1 - negative * (1 - weight))
        by_weight = gx * gy * negative
    if gw is not None:
        by_x = gw * gy * negative
        by_gy = gw * x * negative if by_gy is None else by_gy + gw * x * negative
    return by_gy, by_x, by_weight


@functional()
@public()
@autocast("lower")
def prelu(input: Any, weight: Any) -> Any:
    """input where positive, else weight * input, with one weight per channel (dimension 1) or one for all."""
    for position, value in enumerate((input, weight), 1):
        if not isinstance(value, Tensor):
            name = "input" if position == 1 else "weight"
            raise not_a_tensor("prelu", name, value, position)
    if input._array.dtype != weight._array.dtype:
        raise EngineError(f"prelu: Type promoting not supported. Got {input.dtype.old} and {weight.dtype.old}")
    if weight.ndim > 1:
        raise EngineError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    count = weight.numel()
    if count != 1:
        if input.ndim == 0:
            raise EngineError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != count:
            raise EngineError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
                f"size = {channels}."
            )
    if input.ndim > 1 or weight.ndim > input.ndim:
        shape = tuple(count if i == 1 else 1 for i in range(input.ndim))
        weight = weight.reshape(shape)
    return prelu_op.call(input, weight)


# Random leaky ReLU: `noise` is the slope of each element, 1 where it is positive.

rrelu_op = TypedOp(
    "rrelu", "x noise", node="RreluWithNoiseBackward0", elementwise=True, pointwise=False, traits="activation"
)
rrelu_op.refusing("biuc", title="rrelu_with_noise_out_cpu").vjp(x=lambda g, noise: g * noise)

rrelu_mean_op = TypedOp(
    "rrelu_mean", "x", "slope", node="RreluWithNoiseBackward0", elementwise=True, traits="activation"
)
rrelu_mean_op.refusing("biuc", title="leaky_relu_cpu")
rrelu_mean_op.vjp(x=lambda g, x, slope, ops: ops.leaky_relu_backward(g, x, slope))


def _slopes(array: Any, lower: float, upper: float) -> Any:
    """A random slope for every element that is not positive, 1 for the others."""
    noise = HOST.xp.ones(array.shape, array.dtype)
    negative = to_host(array) <= 0
    noise[negative] = uniform(default_generator, (int(negative.sum()),), f64, lower, upper)
    return noise


def _rrelu(input: Any, lower: float, upper: float, training: bool, run: Any) -> Any:
    if not isinstance(input, Tensor):
        raise not_a_tensor("rrelu", "input", input, 1)
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise EngineError(f"rrelu: {name} bound must be finite, got {bound:g}")
    if lower > upper:
        raise EngineError("Lower bound should be less than or equal to the upper bound")
    if modes.batches and open_levels.levels:
        raise EngineError("vmap: we do not yet support aten::rrelu. Please file an issue")
    check_numbers(input, lower, upper, without="biuc")
    if not training:
        if run is write and lower + upper < 0:  # (its gradient cannot be told from the result)
            return write(leaky_relu_written_op, input, (lower + upper) / 2)
        return run(rrelu_mean_op, input, (lower + upper) / 2)
    array = input._array
    return run(
        rrelu_op,
        input,
        new_tensor(kind_of(array).computed(array.shape, array.dtype, lambda: _slopes(array, lower, upper))),
    )


@functional()
def rrelu(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Any:
    """leaky_relu with a random slope for every negative element (their mean when not training)."""
    return _rrelu(input, lower, upper, training, write if inplace else call)


@functional("rrelu_")
@public("rrelu_", method=False)
def rrelu_(input: Any, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Any:
    """rrelu, in place."""
    return _rrelu(input, lower, upper, training, write)


public("rrelu", method=False)(
    lambda input, lower=1 / 8, upper=1 / 3, training=False: _rrelu(input, lower, upper, training, call)
)

# Threshold ------------------------------------------------------------------------------------------

threshold_op = TypedOp(
    "threshold", "x", "limit value", elementwise=True, saved_as={"threshold": "limit"}, traits="activation rectifier"
)
threshold_op.refusing("bc").vjp(x=lambda g, x, limit, ops: ops.threshold_backward(g, x, limit))
threshold_written_op = TypedOp(
    "threshold_written", "x", "limit value", node="ThresholdBackward1", elementwise=True, traits="activation rectifier"
)
threshold_written_op.refusing("bc", title="threshold_cpu")
threshold_written_op.vjp(x=lambda g, x, limit, ops: ops.threshold_backward(g, x, limit))

threshold_backward_op = Op("threshold_backward", "gy x", "limit", node="ThresholdBackwardBackward0", elementwise=True)
threshold_backward_op.vjp(gy=lambda g, x, limit, ops: ops.threshold_backward(g, x, limit), x=step)


@functional()
@public(method=False)
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """input where above the threshold, else value."""
    value = _replacement(input, threshold, value)
    return threshold_(input, threshold, value) if inplace else threshold_op.call(input, threshold, value)


@functional("threshold_")
@public("threshold_", method=False)
def threshold_(input: Any, threshold: float, value: float) -> Any:
    """threshold, in place."""
    return write(threshold_written_op, input, threshold, _replacement(input, threshold, value))


def _replacement(input: Any, threshold: float, value: float) -> float:
    """The value as a number of the input's type, which has to hold the threshold, too."""
    if not isinstance(input, Tensor) or input._array.dtype.kind in "bc":
        return value
    check_numbers(input, threshold)
    return cast_number(value, input._array.dtype)

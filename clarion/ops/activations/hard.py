"""Hard activations: smooth ones cut to straight pieces (hardtanh, hardsigmoid, hardswish), and shrinkage."""

from __future__ import annotations

import sys
from typing import Any

from ...core.inplace import inplace as write
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentValueError, EngineError
from ..elementwise.cast import LARGEST, check_numbers
from ..elementwise.unary import step
from ..faces.api import NN_FUNCTIONAL, call, functional, public, with_out
from ..faces.typed import TypedOp

hardtanh_op = TypedOp(
    "hardtanh",
    "x",
    "low high",
    elementwise=True,
    saved_as={"min_val": "low", "max_val": "high"},
    traits="activation rectifier",
)
hardtanh_op.refusing("bc", title="hardtanh_cpu")
hardtanh_op.vjp(x=lambda g, x, low, high, ops: ops.hardtanh_backward(g, x, low, high))

hardtanh_backward_op = Op("hardtanh_backward", "gy x", "low high", node="HardtanhBackwardBackward0", elementwise=True)
hardtanh_backward_op.vjp(gy=lambda g, x, low, high, ops: ops.hardtanh_backward(g, x, low, high), x=step)


def _hardtanh(input: Any, low: float, high: float, run: Any) -> Any:
    if isinstance(input, Tensor):
        if input._array.dtype.kind == "b":
            raise EngineError("Bool inputs not supported for hardtanh")
        if input._array.dtype.kind == "u" and low < 0:
            raise EngineError("cannot do hardtanh on an unsigned type with negative limits")
        check_numbers(input, low, high, exact=True, without="c")
    return run(hardtanh_op, input, low, high)


@functional()
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """input, cut to [min_val, max_val]."""
    if min_val > max_val:
        raise ArgumentValueError("min_val cannot be greater than max_val")
    return _hardtanh(input, min_val, max_val, write if inplace else call)


@functional("hardtanh_")
def hardtanh_(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """hardtanh, in place."""
    return _hardtanh(input, min_val, max_val, write)


@functional()
def relu6(input: Any, inplace: bool = False) -> Any:
    """input, cut to [0, 6]."""
    return _hardtanh(input, 0, 6, write if inplace else call)


hardsigmoid_op = TypedOp("hardsigmoid", "x", elementwise=True, traits="activation").refusing("biuc")
hardsigmoid_op.vjp(x=lambda g, x, ops: ops.hardtanh_backward(g / 6, x, -3, 3))


@functional()
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """(input + 3) / 6, cut to [0, 1]."""
    return write(hardsigmoid_op, input) if inplace else hardsigmoid_op.call(input)


hardswish_op = TypedOp("hardswish", "x", elementwise=True, traits="activation").refusing("biuc")
hardswish_op.vjp(x=lambda g, x, ops: ops.hardswish_backward(g, x))

hardswish_backward_op = Op("hardswish_backward", "gy x", node="HardswishBackwardBackward0", elementwise=True)
hardswish_backward_op.vjp(
    gy=lambda g, x, ops: ops.hardswish_backward(g, x),
    x=lambda g, gy, x, ops: ops.hardtanh_backward(g * gy / 3, x, -3, 3),
)


@functional()
def hardswish(input: Any, inplace: bool = False) -> Any:
    """input * hardsigmoid(input)."""
    return write(hardswish_op, input) if inplace else hardswish_op.call(input)


# Shrinkage ------------------------------------------------------------------------------------------

shrink_backward_op = Op("shrink_backward", "gy x", "lambd", node="SoftshrinkBackwardBackward0", elementwise=True)
shrink_backward_op.vjp(gy=lambda g, x, lambd, ops: ops.shrink_backward(g, x, lambd), x=step)

softshrink_op = TypedOp("softshrink", "x", "lambd", elementwise=True, traits="activation").refusing(
    "biuc", title="softshrink_check"
)
softshrink_op.vjp(x=lambda g, x, lambd, ops: ops.shrink_backward(g, x, lambd))

hardshrink_op = TypedOp("hardshrink", "x", "lambd", elementwise=True, traits="activation").refusing("biuc")
hardshrink_op.vjp(x=lambda g, x, lambd, ops: ops.shrink_backward(g, x, lambd))


def softshrink_face(input: Any, lambd: float = 0.5) -> Any:
    """input moved towards 0 by lambd, and 0 where it would cross."""
    if not 0 <= lambd < 6e4:
        _check_shrinkage(input, lambd)
    return softshrink_op.call(input, lambd)


def _check_shrinkage(input: Any, lambd: float) -> None:
    if isinstance(input, Tensor) and input._array.dtype.kind not in "biuc":
        largest = LARGEST.get(input._array.dtype, sys.float_info.max)
        if not 0 <= lambd <= largest:
            raise EngineError(
                f"lambda must be in range [0, {largest:g}] for input dtype {input.dtype.old}, but found {lambd:g}"
            )


softshrink = NN_FUNCTIONAL["softshrink"] = with_out("softshrink", softshrink_face)


@public(out=True)
def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """input where it is further than lambd from 0, else 0."""
    if not -6e4 < lambd < 6e4:
        check_numbers(input, lambd, exact=True, without="biuc")
    return hardshrink_op.call(input, lambd)


NN_FUNCTIONAL["hardshrink"] = hardshrink


@functional()
def softsign(input: Any) -> Any:
    """input / (1 + |input|)."""
    return input / (abs(input) + 1)


@functional()
def tanhshrink(input: Any) -> Any:
    """input - tanh(input)."""
    return input - input.tanh()

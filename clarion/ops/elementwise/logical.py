"""Logic and bits: no gradients."""

from __future__ import annotations

from typing import Any

from ...core.inplace import inplace
from ...core.modes import no_grad
from ...core.op import Op
from ..faces.api import call, public
from ..faces.typed import TypedOp, need_tensors, one_tensor

logical_and_op = Op("logical_and", "x y", elementwise=True, differentiable=False)
logical_or_op = Op("logical_or", "x y", elementwise=True, differentiable=False)
logical_xor_op = Op("logical_xor", "x y", elementwise=True, differentiable=False)
logical_not_op = Op("logical_not", "x", elementwise=True, differentiable=False)


def _unrecorded(run: Any) -> Any:
    """In place these take no part in the history, as in PyTorch: a leaf may be written, and keeps its grad_fn."""

    def write(op: Op, *args: Any) -> Any:
        with no_grad():
            return run(op, *args)

    return write if run is inplace else run


@public(inplace=True, out=True)
def logical_and(input: Any, other: Any, *, run: Any = call) -> Any:
    """Are both true (not zero)?"""
    need_tensors("logical_and", input, other)
    return _unrecorded(run)(logical_and_op, input, other)


@public(inplace=True, out=True)
def logical_or(input: Any, other: Any, *, run: Any = call) -> Any:
    """Is one of them true (not zero)?"""
    need_tensors("logical_or", input, other)
    return _unrecorded(run)(logical_or_op, input, other)


@public(inplace=True, out=True)
def logical_xor(input: Any, other: Any, *, run: Any = call) -> Any:
    """Is exactly one of them true (not zero)?"""
    need_tensors("logical_xor", input, other)
    return _unrecorded(run)(logical_xor_op, input, other)


@public(inplace=True, out=True)
def logical_not(input: Any, *, run: Any = call) -> Any:
    """Is it false (zero)?"""
    return _unrecorded(run)(logical_not_op, input)


# Bits ----------------------------------------------------------------------------------------------


def _bits(name: str, inputs: str = "x y", refuse: str = "fc", title: str = "") -> Op:
    op = TypedOp(name, inputs, pointwise=True, promote="common", differentiable=False)
    return op.refusing(refuse, title=title)


bitwise_and_op, bitwise_or_op, bitwise_xor_op = (_bits(f"bitwise_{name}") for name in ("and", "or", "xor"))
bitwise_not_op = _bits("bitwise_not", "x")
bitwise_left_shift_op = _bits("bitwise_left_shift", refuse="bfc", title="lshift_cpu")
bitwise_right_shift_op = _bits("bitwise_right_shift", refuse="bfc", title="rshift_cpu")
gcd_op, lcm_op = _bits("gcd", refuse="bfc"), _bits("lcm", refuse="bfc")


@public(inplace=True, out=True)
def bitwise_and(input: Any, other: Any, *, run: Any = call) -> Any:
    """input & other."""
    one_tensor("bitwise_and", input, other)
    return run(bitwise_and_op, input, other)


@public(inplace=True, out=True)
def bitwise_or(input: Any, other: Any, *, run: Any = call) -> Any:
    """input | other."""
    one_tensor("bitwise_or", input, other)
    return run(bitwise_or_op, input, other)


@public(inplace=True, out=True)
def bitwise_xor(input: Any, other: Any, *, run: Any = call) -> Any:
    """input ^ other."""
    one_tensor("bitwise_xor", input, other)
    return run(bitwise_xor_op, input, other)


@public(inplace=True, out=True)
def bitwise_not(input: Any, *, run: Any = call) -> Any:
    """~input."""
    return run(bitwise_not_op, input)


@public(inplace=True, out=True)
def bitwise_left_shift(input: Any, other: Any, *, run: Any = call) -> Any:
    """input << other."""
    one_tensor("bitwise_left_shift", input, other)
    return run(bitwise_left_shift_op, input, other)


@public(inplace=True, out=True)
def bitwise_right_shift(input: Any, other: Any, *, run: Any = call) -> Any:
    """input >> other."""
    one_tensor("bitwise_right_shift", input, other)
    return run(bitwise_right_shift_op, input, other)


@public(inplace=True, out=True)
def gcd(input: Any, other: Any, *, run: Any = call) -> Any:
    """The greatest common divisor."""
    need_tensors("gcd", input, other)
    return run(gcd_op, input, other)


@public(inplace=True, out=True)
def lcm(input: Any, other: Any, *, run: Any = call) -> Any:
    """The least common multiple."""
    need_tensors("lcm", input, other)
    return run(lcm_op, input, other)

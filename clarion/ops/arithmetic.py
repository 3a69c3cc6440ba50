"""Arithmetic of two tensors, or a tensor and a number."""

from __future__ import annotations

from typing import Any

from ..core.inplace import inplace
from ..core.op import Op
from .api import METHODS, call, public

add_op = Op("add", "x y", elementwise=True, promote="common")
add_op.vjp(x=lambda g: g, y=lambda g: g)

sub_op = Op("sub", "x y", elementwise=True, promote="common")
sub_op.vjp(x=lambda g: g, y=lambda g: -g)

mul_op = Op("mul", "x y", elementwise=True, promote="common")
mul_op.vjp(x=lambda g, y: g * y, y=lambda g, x: g * x)

div_op = Op("div", "x y", elementwise=True, promote="float")
div_op.vjp(x=lambda g, y: g / y, y=lambda g, y, out: -g * out / y)

neg_op = Op("neg", "x", elementwise=True, promote="common")
neg_op.vjp(x=lambda g: -g)

cast_op = Op("cast", "x", "dtype", node="ToCopyBackward0", moves=True)
cast_op.vjp(x=lambda g: g)


@public(inplace=True, out=True)
def add(input: Any, other: Any, *, alpha: Any = 1, run: Any = call) -> Any:
    """input + alpha * other."""
    return run(add_op, input, other if alpha == 1 else other * alpha)


@public(inplace=True, out=True, aliases=("multiply",))
def mul(input: Any, other: Any, *, run: Any = call) -> Any:
    """input * other."""
    return run(mul_op, input, other)


METHODS["__add__"] = METHODS["__radd__"] = add_op.call
METHODS["__sub__"] = sub_op.call
METHODS["__mul__"] = METHODS["__rmul__"] = mul_op.call
METHODS["__truediv__"] = div_op.call
METHODS["__neg__"] = neg_op.call
METHODS["__iadd__"] = lambda self, other: inplace(add_op, self, other)
METHODS["__imul__"] = lambda self, other: inplace(mul_op, self, other)

"""Circular and hyperbolic functions, angles."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtypes import f32
from ...core.op import Op
from ..faces.api import public
from ..faces.single import faces
from ..faces.typed import TypedOp
from .power import is_real
from .unary import step

sin_op = Op("sin", "x", elementwise=True, promote="float").vjp(x=lambda g, x, ops: g * ops.cos(x))
sin = faces(sin_op, "The sine.")

cos_op = Op("cos", "x", elementwise=True, promote="float").vjp(x=lambda g, x, ops: g * -ops.sin(x))
cos = faces(cos_op, "The cosine.")

tan_op = Op("tan", "x", elementwise=True, promote="float").vjp(x=lambda g, out: g * (out * out + 1))
tan = faces(tan_op, "The tangent.")

# NOTE [Branch cuts]. These rules see the conjugate of x, where PyTorch conjugates what it has computed from x. On a branch
# cut that is the other side: the root is taken with an imaginary part of -0, which 1 - x * x (0 - ±0) never has.


def arc_slope(x: Any, ops: Any) -> Any:
    """1 / √(1 - x²), infinite at both ends."""
    return ops.rsqrt(1 - x * x if is_real(x) else -(x * x + -1))


asin_op = Op("asin", "x", elementwise=True, promote="float", traits="arc")
asin_op.vjp(x=lambda g, x, ops: g * arc_slope(x, ops))
asin = faces(asin_op, "The inverse sine.", "arcsin")

acos_op = Op("acos", "x", elementwise=True, promote="float", traits="arc")
acos_op.vjp(x=lambda g, x, ops: g * -arc_slope(x, ops))
acos = faces(acos_op, "The inverse cosine.", "arccos")

atan_op = Op("atan", "x", elementwise=True, promote="float").vjp(x=lambda g, x: g / (x * x + 1))
atan = faces(atan_op, "The inverse tangent.", "arctan")

sinh_op = Op("sinh", "x", elementwise=True, promote="float").vjp(x=lambda g, x, ops: g * ops.cosh(x))
sinh = faces(sinh_op, "The hyperbolic sine.")

cosh_op = Op("cosh", "x", elementwise=True, promote="float", traits="size").vjp(x=lambda g, x, ops: g * ops.sinh(x))
cosh = faces(cosh_op, "The hyperbolic cosine.")

tanh_op = Op("tanh", "x", elementwise=True, promote="float", traits="activation")
tanh_op.vjp(x=lambda g, out, ops: ops.tanh_backward(g, out))

tanh_backward_op = Op("tanh_backward", "gy y", elementwise=True, promote="common")
tanh_backward_op.vjp(gy=lambda g, y, ops: ops.tanh_backward(g, y), y=lambda g, gy, y: g * gy * y * -2)
tanh = faces(tanh_op, "The hyperbolic tangent.")

asinh_op = Op("asinh", "x", elementwise=True, promote="float").vjp(x=lambda g, x, ops: g * ops.rsqrt(-(-1 - x * x)))
asinh = faces(asinh_op, "The inverse hyperbolic sine.", "arcsinh")

acosh_op = Op("acosh", "x", elementwise=True, promote="float", traits="arc").vjp(
    x=lambda g, x, ops: g * (ops.rsqrt(x * x - 1) if is_real(x) else ops.rsqrt(-(1 - x)) * ops.rsqrt(-(-1 - x)))
)
acosh = faces(acosh_op, "The inverse hyperbolic cosine.", "arccosh")

atanh_op = Op("atanh", "x", elementwise=True, promote="float", traits="arc").vjp(x=lambda g, x: g / (1 - x * x))
atanh = faces(atanh_op, "The inverse hyperbolic tangent.", "arctanh")

deg2rad_op = TypedOp("deg2rad", "x", node="Deg2RadBackward0", elementwise=True, promote="float")
deg2rad_op.refusing("c", "deg2rad is not supported for complex tensors.").vjp(x=lambda g: g * (math.pi / 180))
deg2rad = faces(deg2rad_op, "Degrees to radians.")

rad2deg_op = TypedOp("rad2deg", "x", node="Rad2DegBackward0", elementwise=True, promote="float")
rad2deg_op.refusing("c", "rad2deg is not supported for complex tensors.").vjp(x=lambda g: g * (180 / math.pi))
rad2deg = faces(rad2deg_op, "Radians to degrees.")


def sinc_rule(g: Any, x: Any, ops: Any) -> Any:
    """(cos(y) - sin(y)/y) / x for y = pi x; 0 at 0."""
    y = x * math.pi
    return g * ((ops.cos(y) * y - ops.sin(y)) / (x * y + (x == 0)))


sinc_op = Op("sinc", "x", elementwise=True, promote="float").vjp(x=sinc_rule)
sinc = faces(sinc_op, "sin(pi x) / (pi x), and 1 at 0.")

angle_op = Op("angle", "x", elementwise=True, promote="float", traits="angle").vjp(x=step)


def angle_rule(g: Any, x: Any, ops: Any) -> Any:
    """A turn is a step across x; 0 at 0."""
    size = ops.abs(x)
    return g * (x * 1j) / (size * size + (size == 0))


angle_complex_op = Op("angle_complex", "x", node="AngleBackward0", elementwise=True, conj=False, traits="angle").vjp(
    x=angle_rule
)


@public(out=True)
def angle(input: Any) -> Any:
    """The angle of complex numbers in the plane; of real numbers 0 or pi."""
    kind = getattr(getattr(input, "_array", None), "dtype", f32).kind
    return angle_complex_op.call(input) if kind == "c" else angle_op.call(input)

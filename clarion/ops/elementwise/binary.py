"""Functions of two tensors, element by element, beyond arithmetic."""

from __future__ import annotations

import math
from typing import Any

from ...core.dtypes import c32, f16, f32, f64
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import EngineError, NotSupportedError
from ..faces.api import call, public, with_out
from ..faces.autocast import autocast
from ..faces.typed import TypedOp, need_tensors, no_gradient, show_edges

atan2_op = TypedOp("atan2", "x y", elementwise=True, promote="float", traits="angle").refusing("c")
atan2_op.vjp(
    x=lambda g, x, y, ops: g * (y / square_distance(x, y, ops)),
    y=lambda g, x, y, ops: -g * (x / square_distance(x, y, ops)),
)


def square_distance(x: Any, y: Any, ops: Any) -> Any:
    """x² + y², infinite at the origin: there the angle's gradient is 0, as in PyTorch."""
    square = x * x + y * y
    return ops.where(square == 0, math.inf, square)


hypot_op = TypedOp("hypot", "x y", elementwise=True, promote="common", traits="size norm").refusing("biuc")
hypot_op.vjp(x=lambda g, x, out: g * (x / out), y=lambda g, y, out: g * (y / out))

logaddexp_op = TypedOp("logaddexp", "x y", elementwise=True, promote="common", traits="size").refusing("biu")
logaddexp_op.vjp(
    x=lambda g, x, y, ops: g / (1 + ops.exp(y - x)),
    y=lambda g, x, y, ops: g / (1 + ops.exp(x - y)),
)

logaddexp2_op = TypedOp("logaddexp2", "x y", elementwise=True, promote="common", traits="size").refusing("biuc")
logaddexp2_op.vjp(
    x=lambda g, x, y, ops: g / (1 + ops.exp2(y - x)),
    y=lambda g, x, y, ops: g / (1 + ops.exp2(x - y)),
)

heaviside_op = TypedOp("heaviside", "x y", node="NotImplemented", elementwise=True, promote="common").refusing("c")
heaviside_op.vjp(x=no_gradient("heaviside"), y=no_gradient("heaviside"))

nextafter_op = TypedOp("nextafter", "x y", elementwise=True, promote="common").refusing("biuc", title="nextafter_cpu")
nextafter_op.vjp(x=lambda g, x, y, ops: ops.where(x == y, 0, g), y=lambda g, ops: ops.zero(g))

ldexp_op = Op("ldexp", "x y", elementwise=True, promote="float")
ldexp_op.vjp(x=lambda g, y, ops: ops.ldexp(g, y), y=lambda g, out: g * (out * math.log(2)))


@public(inplace=True, out=True, aliases=("arctan2",))
def atan2(input: Any, other: Any, *, run: Any = call) -> Any:
    """The angle of the point (other, input)."""
    need_tensors("atan2", input, other)
    return run(atan2_op, input, other)


@public(inplace=True, out=True)
def hypot(input: Any, other: Any, *, run: Any = call) -> Any:
    """sqrt(input² + other²)."""
    need_tensors("hypot", input, other)
    return run(hypot_op, input, other)


@public(out=True)
def logaddexp(input: Any, other: Any) -> Any:
    """log(exp(input) + exp(other)), without overflow."""
    need_tensors("logaddexp", input, other)
    return logaddexp_op.call(input, other)


@public(out=True)
def logaddexp2(input: Any, other: Any) -> Any:
    """log2(2 ** input + 2 ** other), without overflow."""
    need_tensors("logaddexp2", input, other)
    return logaddexp2_op.call(input, other)


@public(inplace=True, out=True)
def heaviside(input: Any, values: Any, *, run: Any = call) -> Any:
    """The step function: 0 below zero, 1 above, `values` at zero."""
    need_tensors("heaviside", input, values)
    if input._array.dtype != values._array.dtype:
        raise EngineError("heaviside is not yet implemented for tensors with different dtypes.")
    return run(heaviside_op, input, values)


@public(inplace=True, out=True)
def nextafter(input: Any, other: Any, *, run: Any = call) -> Any:
    """The next number after `input` in the direction of `other`."""
    need_tensors("nextafter", input, other)
    return run(nextafter_op, input, other)


@public(inplace=True, out=True)
def ldexp(input: Any, other: Any, *, run: Any = call) -> Any:
    """input * 2 ** other."""
    need_tensors("ldexp", input, other)
    return run(ldexp_op, input, other)


# Where one operand may be a number: a node for each case, as in PyTorch ----------------------------

xlogy_op = TypedOp("xlogy", "x y", elementwise=True, promote="float", traits="log").refusing("c")
xlogy_number_op = TypedOp("xlogy_number", "x y", node="XlogyBackward1", elementwise=True, promote="float")
xlogy_by_op = TypedOp("xlogy_by", "x y", node="XlogyBackward2", elementwise=True, promote="float")


def log_where_used(g: Any, x: Any, y: Any, ops: Any) -> Any:
    """g * log(y), and 0 where g is 0, or x is and log(y) no number."""
    return ops.where((x == 0) & (y <= 0), 0, ops.xlogy(g, y))


def log_of_number(g: Any, x: Any, y: Any, ops: Any) -> Any:
    """The same, for a number y."""
    return g * math.log(y) if y > 0 else ops.where(x == 0, 0, ops.xlogy_by(g, y))


xlogy_op.vjp(x=log_where_used, y=lambda g, x, y: g * x / y)
xlogy_number_op.refusing("c", title="xlogy_cpu").vjp(y=lambda g, x, y: g * x / y)
xlogy_by_op.refusing("c", title="xlogy_cpu").vjp(x=log_of_number)
show_edges(xlogy_number_op, 1)
show_edges(xlogy_by_op, 0)

copysign_op = TypedOp("copysign", "x y", elementwise=True, promote="float").refusing("c")
copysign_op.vjp(x=lambda g, x, out, ops: flipped(g, x, out, ops), y=lambda g, ops: ops.zero(g))
copysign_scalar_op = TypedOp(
    "copysign_scalar",
    "x y",
    node="CopysignBackward1",
    elementwise=True,
    promote="float",
)
copysign_scalar_op.refusing("c", title="copysign_cpu").vjp(x=lambda g, x, out, ops: flipped(g, x, out, ops))
show_edges(copysign_scalar_op, 0)


def flipped(g: Any, x: Any, out: Any, ops: Any) -> Any:
    """g with its sign changed where the sign of x was; 0 where x is 0."""
    return g * ops.where(x == 0, 0, out / x)


@public(inplace=True, out=True)
def xlogy(input: Any, other: Any, *, run: Any = call) -> Any:
    """input * log(other), and 0 where input is 0."""
    if not isinstance(input, Tensor):
        need_tensors("xlogy", other)
        return run(xlogy_number_op, input, other)
    return run(xlogy_op if isinstance(other, Tensor) else xlogy_by_op, input, other)


@public(inplace=True, out=True)
def copysign(input: Any, other: Any, *, run: Any = call) -> Any:
    """The size of `input` with the sign of `other`."""
    need_tensors("copysign", input)
    return run(copysign_op if isinstance(other, Tensor) else copysign_scalar_op, input, other)


# Complex numbers from two reals --------------------------------------------------------------------

complex_op = Op("complex", "x y", pointwise=True, conj=False, saved_as={"real": "x", "imag": "y"})
complex_op.vjp(x=lambda g, ops: ops.real(g), y=lambda g, ops: ops.imag(g))

polar_op = Op("polar", "x y", pointwise=True, conj=False)
polar_op.vjp(
    x=lambda g, y, ops: ops.real(g) * ops.cos(y) + ops.imag(g) * ops.sin(y),
    y=lambda g, x, y, ops: x * (ops.imag(g) * ops.cos(y) - ops.real(g) * ops.sin(y)),
)


def check_parts(x: Any, y: Any) -> None:
    """Both parts must be of one real floating type."""
    need_tensors("complex", x, y)
    kinds = [t._array.dtype for t in (x, y)]
    if any(kind not in (f16, f32, f64) for kind in kinds):
        raise EngineError(
            f"Expected both inputs to be Half, Float or Double tensors but got {x.dtype.old} and {y.dtype.old}"
        )
    if kinds[0] != kinds[1]:
        raise EngineError(
            f"Expected object of scalar type {x.dtype.old} but got scalar type {y.dtype.old} for second argument"
        )
    if kinds[0] == f16 and c32 is None:
        raise NotSupportedError("complex numbers of half precision need ml_dtypes 0.6: convert to float32")


@public("complex", method=False)
def complex_(real: Any, imag: Any, *, out: Any = None) -> Any:
    """real + i * imag."""
    check_parts(real, imag)
    return _of_parts(complex_op, real, imag, out)


def _of_parts(op: Op, x: Any, y: Any, out: Any) -> Any:
    if out is None:
        return op.call(x, y)
    wanted = x.dtype.to_complex()
    if out.dtype is not wanted:
        raise EngineError(
            f"Expected object of scalar type {wanted.old} but got scalar type {out.dtype.old} for argument 'out'"
        )
    return with_out(op.name, op.call)(x, y, out=out)


@public(method=False)
@autocast("float32")
def polar(abs: Any, angle: Any, *, out: Any = None) -> Any:
    """abs * (cos(angle) + i * sin(angle))."""
    check_parts(abs, angle)
    return _of_parts(polar_op, abs, angle, out)

"""Powers: tensor to the tensor, tensor to the number, number to the tensor (three nodes, as in PyTorch)."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ...core.devices import ndarray
from ...core.dtypes import HALF, NumpyNumber, c128, f64, result_type
from ...core.inplace import inplace
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError
from ..faces.api import METHODS, call, public
from ..faces.typed import TypedOp, show_edges
from .cast import cast, cast_number

nonnegative_real_op = Op("nonnegative_real", "x", differentiable=False)

pow_op = TypedOp(
    "pow",
    "x y",
    node="PowBackward1",
    elementwise=True,
    promote="common",
    conj=False,  # a real base must be made complex first, and conjugated then: below 0 its logarithm has two sides
    saved_as={"exponent": "y"},
    traits="power",
)
pow_op.refusing("b", title="pow").vjp(
    x=lambda g, x, y, ops: ops.where(y == 0, 0, g * conjugate(y * ops.pow(*alike(x, y)), ops)),
    # 0 ** y is 0 for every y > 0, and PyTorch takes 0 ** 0 as flat too; log(0) must not spoil that.
    y=lambda g, x, y, out, ops: (
        g
        * ops.where((x == 0) & ops.nonnegative_real(y), 0, conjugate(out * ops.log(x if is_real(out) else x + 0j), ops))
    ),
)

pow_scalar_op = Op(
    "pow_scalar",
    "x y",
    node="PowBackward0",
    elementwise=True,
    promote="common",
    conj=False,
    saved_as={"exponent": "y"},
    traits="power",
)
pow_scalar_op.vjp(x=lambda g, x, y, ops: slope(g, x, y, ops))
show_edges(pow_scalar_op, 0)

pow_base_op = TypedOp(
    "pow_base",
    "x y",
    node="PowBackward2",
    elementwise=True,
    pointwise=False,
    promote="common",
    conj=False,
    traits="power",
    saved_as={"exponent": "y"},
)
pow_base_op.refusing("b", title="pow").vjp(y=lambda g, x, y, out, ops: growth(g, x, y, out, ops))
show_edges(pow_base_op, 1)


def slope(g: Any, x: Any, exponent: Any, ops: Any) -> Any:
    """Gradient of x ** number."""
    if exponent == 0:
        return ops.zero(g)
    if exponent == 2:
        if type(x) is ndarray and x.dtype.kind == "f":  # (twice the same number, bit by bit)
            return ops.mul(g, ops.add(x, x))
        return g * conjugate(x * 2, ops)
    return g * conjugate(ops.pow_scalar(x, exponent - 1) * exponent, ops)


def growth(g: Any, base: Any, y: Any, out: Any, ops: Any) -> Any:
    """Gradient of number ** y."""
    if base == 0:
        return g * ops.where(ops.nonnegative_real(y), 0, out * -math.inf)
    if not is_real(out):
        return g * conjugate(out * cmath.log(base), ops)
    return g * (out * (math.log(base) if base > 0 else math.nan))


def is_real(value: Any) -> bool:
    """Is a Tensor or an array of a real type?"""
    return not (value.is_complex() if isinstance(value, Tensor) else value.dtype.kind == "c")


def conjugate(value: Any, ops: Any) -> Any:
    """The complex conjugate; real values as they are."""
    return value if is_real(value) else ops.conj(value)


def alike(x: Any, y: Any) -> tuple[Any, Any]:
    """Base and exponent of the derivative of x ** y, of one type."""
    return (x if is_real(y) else x + 0j), y - 1


@public(inplace=True, out=True)
def pow(input: Any, exponent: Any, *, run: Any = call) -> Any:
    """input ** exponent."""
    if not isinstance(exponent, Tensor):
        if not isinstance(input, Tensor):
            raise ArgumentTypeError(
                "pow() received an invalid combination of arguments - got "
                f"({type(input).__name__}, {type(exponent).__name__}): one of them must be a Tensor"
            )
        if (
            not isinstance(exponent, int | float)
            or not -128 < exponent < 128  # (every type holds those)
            or (exponent < 0 and input._array.dtype.kind == "u")
        ):
            _check_exponent(input, exponent)
        return run(pow_scalar_op, input, exponent)
    return run(pow_op if isinstance(input, Tensor) else pow_base_op, input, exponent)


def _check_exponent(input: Any, exponent: Any) -> None:
    """The exponent is a number of the result's type, where that is of integers or of half precision."""
    if isinstance(exponent, NumpyNumber | int | float | complex):
        kind = result_type([input._array, exponent])
        if kind.kind in "iu" and exponent < 0:  # type: ignore[operator]
            raise EngineError("Integers to negative integer powers are not allowed.")
        if kind in HALF or kind.kind in "iu":
            cast_number(exponent, kind)


@public(out=True)
def float_power(input: Any, exponent: Any) -> Any:
    """input ** exponent in double precision."""
    operands = [_doubled(t, (input, exponent)) for t in (input, exponent)]
    return pow(*operands)


def _doubled(value: Any, operands: tuple[Any, ...]) -> Any:
    kind = c128 if any(_is_complex(t) for t in operands) else f64
    if isinstance(value, Tensor):
        return cast(value, kind)
    return complex(value) if kind is c128 else float(value)


def _is_complex(value: Any) -> bool:
    return value.is_complex() if isinstance(value, Tensor) else isinstance(value, complex)


def float_power_(self: Any, exponent: Any) -> Any:
    """float_power in place: the tensor must be double already."""
    kind = c128 if _is_complex(self) or _is_complex(exponent) else f64
    if self._array.dtype != kind:
        wanted = "ComplexDouble" if kind is c128 else "Double"
        raise EngineError(
            f"the base given to float_power_ has dtype {self.dtype.old} but the operation's result requires dtype {wanted}"
        )
    return pow(self, _doubled(exponent, (self, exponent)), run=inplace)


METHODS["float_power_"] = float_power_

"""Arithmetic of two or three arrays. Keyword `out=`: where the result is written (the array may be an input too)."""

from __future__ import annotations

from typing import Any

import numpy

from ....errors import EngineError
from ...layout import in_rows
from ...quiet import quietly
from ...registry import kernel, ufunc

ufunc("add")
ufunc("sub", "subtract")
ufunc("mul", "multiply")
ufunc("neg", "negative")
ufunc("div", "true_divide", quiet=True)
ufunc("div_mode", "true_divide", quiet=True)  # division with rounding_mode=None


@kernel("add_scaled")
def add_scaled(xp: Any, x: Any, y: Any, alpha: Any, *, out: Any = None) -> Any:
    scaled = times(xp, y, alpha)
    return xp.add(x, scaled, out=room(out, scaled, x))


@kernel("sub_scaled")
def sub_scaled(xp: Any, x: Any, y: Any, alpha: Any, *, out: Any = None) -> Any:
    scaled = times(xp, y, alpha)
    return xp.subtract(x, scaled, out=room(out, scaled, x))


@kernel("rsub")
def rsub(xp: Any, x: Any, y: Any) -> Any:
    return xp.subtract(y, x)


@kernel("rsub_scaled")
def rsub_scaled(xp: Any, x: Any, y: Any, alpha: Any) -> Any:
    return xp.subtract(y, times(xp, x, alpha))


def times(xp: Any, array: Any, number: Any, *, out: Any = None) -> Any:
    """An array times a Python number, in the array's type (integers wrap around)."""
    if array.dtype.kind in "iub":
        number = xp.asarray(number).astype(array.dtype)
    return xp.multiply(array, number, out=out)


def room(out: Any, temporary: Any, x: Any) -> Any:
    """Where the last step writes: `out`, or the array of the step before, where the result fits into it."""
    return temporary if out is None and x.ndim and temporary.shape == x.shape else out


@kernel("addcmul")
def addcmul(xp: Any, x: Any, y: Any, z: Any, value: Any, *, out: Any = None) -> Any:
    product = xp.multiply(y, z)
    if value != 1:
        product = times(xp, product, value, out=product if product.ndim else None)
    return xp.add(x, product, out=room(out, product, x))


@kernel("addcdiv")
@quietly
def addcdiv(xp: Any, x: Any, y: Any, z: Any, value: Any, *, out: Any = None) -> Any:
    quotient = xp.true_divide(y, z)
    if value != 1:
        quotient = times(xp, quotient, value, out=quotient if quotient.ndim else None)
    return xp.add(x, quotient, out=room(out, quotient, x))


@kernel("lerp")
def lerp(xp: Any, x: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    step = xp.subtract(end, x)
    # From the nearer end, so that weight 1 gives exactly `end`.
    near = abs(weight) < 0.5
    step = xp.multiply(step, weight if near else weight - 1, out=step if step.ndim else None)
    return xp.add(x if near else end, step, out=room(out, step, x if near else end))


@kernel("lerp_tensor")
def lerp_tensor(xp: Any, x: Any, end: Any, weight: Any) -> Any:
    step = end - x
    return xp.where(xp.abs(weight) < 0.5, x + weight * step, end - step * (1 - weight))


# Rounded division ----------------------------------------------------------------------------------


def check_divisor(y: Any) -> None:
    """Integers cannot be divided by zero."""
    if y.dtype.kind in "iu" and isinstance(y, numpy.ndarray) and not y.all():  # elsewhere looking means waiting
        raise EngineError("ZeroDivisionError\nAn integer tensor is divided by zero.")


@kernel("floor_divide")
@kernel("div_floor")
@quietly
def floor_divide(xp: Any, x: Any, y: Any) -> Any:
    check_divisor(y)
    return xp.floor_divide(x, y)


@kernel("div_trunc")
@quietly
def div_trunc(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return xp.trunc(xp.true_divide(x, y))
    check_divisor(y)
    quotient = xp.floor_divide(x, y)
    return quotient + ((quotient < 0) & (quotient * y != x)) if x.dtype.kind == "i" else quotient


@quietly
def remainder(xp: Any, x: Any, y: Any) -> Any:
    check_divisor(y)
    rest = xp.remainder(x, y)
    if xp is numpy and rest.dtype.kind == "f":  # a zero has the sign of what is divided, NumPy's that of the divisor
        zero = rest == 0
        if zero.any():
            return xp.where(zero, xp.copysign(rest, x), rest)
    return rest


@quietly
def fmod(xp: Any, x: Any, y: Any) -> Any:
    check_divisor(y)
    return xp.fmod(x, y)


# With a number as divisor, with a tensor, and (remainder) with a number as dividend: three nodes, one kernel.
for _name, _function in (
    ("remainder", remainder), ("remainder_scalar", remainder), ("remainder_of", remainder),
    ("fmod", fmod), ("fmod_scalar", fmod),
):  # fmt: skip
    kernel(_name)(_function)


# Powers --------------------------------------------------------------------------------------------


@kernel("pow")
@quietly
def power(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        return integer_power(xp, x, y)
    return xp.power(x, y) if x.dtype.kind != "b" else x | ~y


kernel("pow_base")(in_rows(power))


def integer_power(xp: Any, x: Any, y: Any) -> Any:
    """Powers of integers; a negative exponent gives 0, but for the bases 1 and -1."""
    negative = y < 0
    if not negative.any():
        return xp.power(x, y)
    result = xp.power(x, xp.where(negative, 0, y))
    inverse = xp.where(x == 1, 1, xp.where(x == -1, 1 - 2 * (y & 1), 0)).astype(result.dtype)
    return xp.where(negative, inverse, result)


@kernel("pow_scalar")
def pow_scalar(xp: Any, x: Any, y: Any) -> Any:
    """`y` is a number (a 0-dim array when it comes from the dispatch); the usual exponents are plain arithmetic."""
    exponent = y if isinstance(y, (int, float, complex)) else y.item()
    if type(exponent) is complex and x.dtype.kind != "c":
        x = x + 0j
    return xp.multiply(x, x) if exponent == 2 else _other_power(xp, x, exponent)


@quietly
def _other_power(xp: Any, x: Any, exponent: Any) -> Any:
    kind = x.dtype.kind
    if kind == "f":
        if exponent == 0.5:
            return xp.sqrt(x)
        if exponent == -0.5:
            return 1 / xp.sqrt(x)
        if exponent == -1:
            return 1 / x
    elif kind in "iu" and exponent < 0:
        raise EngineError("Integers to negative integer powers are not allowed.")
    if exponent == 1:
        return +x if kind != "b" else x.copy()
    if exponent == 3:
        return x * x * x
    return power(xp, x, xp.asarray(exponent).astype(x.dtype))


@kernel("nonnegative_real")
def nonnegative_real(xp: Any, x: Any) -> Any:
    return (x.real >= 0) & (x.imag == 0) if x.dtype.kind == "c" else x >= 0

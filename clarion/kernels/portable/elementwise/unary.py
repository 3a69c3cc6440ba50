"""Functions of one array, element by element."""

from __future__ import annotations

import math
from typing import Any

from ...layout import strided
from ...mirrors import conjugated
from ...quiet import quietly
from ...registry import kernel, ufunc
from .special import widened

# The array library's own functions; those that meet infinities as a matter of course run quietly.
for _name, _own in {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p", "log2": "log2",
    "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "reciprocal": "reciprocal",
}.items():  # fmt: skip
    ufunc(_name, _own, quiet=True)

ufunc("tanh")
ufunc("floor")
ufunc("ceil")
ufunc("trunc")
ufunc("isnan")
ufunc("isinf")
ufunc("isfinite")
ufunc("conj", "conjugate")
kernel("conj_physical")(lambda xp, x: xp.conjugate(x) if x.dtype.kind == "c" else x.copy())
kernel("conj_view")(lambda xp, x: conjugated(x))
ufunc("flat", "zeros_like")
ufunc("abs", "absolute")


@kernel("sgn")
@kernel("sign")
def sign(xp: Any, x: Any) -> Any:
    """0 for nan too, unlike the array library's."""
    if x.dtype.kind == "f":
        out = xp.asarray(x > 0).astype(x.dtype)
        out -= x < 0
        return out
    return xp.sign(x) if x.dtype.kind != "b" else x | x  # in the order of `x`, which copy() does not keep


@kernel("log10")
@quietly
def log10(xp: Any, x: Any) -> Any:
    if x.dtype != xp.float32:
        return xp.log10(x)
    # NumPy's for single precision misses the powers of ten by a last place: the logarithm of 100 must be 2.
    return xp.log10(widened(xp, x)).astype(xp.float32)


@kernel("rsqrt")
@quietly
def rsqrt(xp: Any, x: Any) -> Any:
    return 1 / xp.sqrt(x)


@kernel("square")
@quietly
def square(xp: Any, x: Any) -> Any:
    return xp.square(x.astype(xp.int64) if x.dtype.kind == "b" else x)


@kernel("sigmoid")
@quietly
def sigmoid(xp: Any, x: Any) -> Any:
    if hasattr(xp, "sigmoid"):  # a function of its own
        return xp.sigmoid(x)
    return 1 / (1 + xp.exp(-x))


@kernel("tanh_backward")
def tanh_backward(xp: Any, g: Any, y: Any) -> Any:
    # g * (1 - y * y), without the number: NumPy takes twice as long with one.
    part = y * y
    if type(part) is not xp.ndarray:  # a scalar: 0 dimensions
        return g - g * part
    xp.multiply(part, g, part)
    return xp.subtract(g, part, part)


@kernel("sigmoid_backward")
def sigmoid_backward(xp: Any, g: Any, y: Any) -> Any:
    # g * y * (1 - y), likewise.
    part = g * y
    return part - part * y


@kernel("round")
def round(xp: Any, x: Any) -> Any:
    return xp.rint(x) if x.dtype.kind == "f" else x.copy("C" if 0 in x.strides else "K")


@kernel("round_decimals")
@quietly
def round_decimals(xp: Any, x: Any, decimals: int) -> Any:
    """Scaled, rounded half to even, and scaled back."""
    if decimals >= 0:
        return xp.rint(x * 10.0**decimals) / 10.0**decimals
    return xp.rint(x / 10.0**-decimals) * 10.0**-decimals


@kernel("frac")
@quietly
def frac(xp: Any, x: Any) -> Any:
    return x - xp.trunc(x)


@kernel("signbit")
def signbit(xp: Any, x: Any) -> Any:
    return xp.signbit(x) if x.dtype.kind == "f" else x < 0


@kernel("isposinf")
def isposinf(xp: Any, x: Any) -> Any:
    return xp.equal(x, math.inf) if x.dtype.kind == "f" else xp.zeros_like(x, bool)


@kernel("isneginf")
def isneginf(xp: Any, x: Any) -> Any:
    return xp.equal(x, -math.inf) if x.dtype.kind == "f" else xp.zeros_like(x, bool)


@kernel("isreal")
def isreal(xp: Any, x: Any) -> Any:
    return xp.equal(x.imag, 0) if x.dtype.kind == "c" else xp.ones_like(x, bool)


@kernel("nan_to_num")
def nan_to_num(xp: Any, x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if hasattr(xp, "symbolic"):
        finite = xp.where(x == math.inf, posinf, xp.where(x == -math.inf, neginf, x))
        return xp.where(x != x, nan, finite)
    if x.dtype.kind == "c":
        out = xp.empty_like(x)
        out.real = nan_to_num(xp, x.real, nan, posinf, neginf)
        out.imag = nan_to_num(xp, x.imag, nan, posinf, neginf)
        return out
    if x.dtype.kind != "f":
        return x.copy("C" if 0 in x.strides else "K")
    return xp.nan_to_num(xp.ascontiguousarray(x) if 0 in x.strides else x, nan=nan, posinf=posinf, neginf=neginf)


@kernel("deg2rad")
@quietly
def deg2rad(xp: Any, x: Any) -> Any:
    return x * (math.pi / 180)


@kernel("rad2deg")
@quietly
def rad2deg(xp: Any, x: Any) -> Any:
    return x * (180 / math.pi)


@kernel("sinc")
@quietly
def sinc(xp: Any, x: Any) -> Any:
    y = x * math.pi
    zero = y == 0
    return xp.sin(y) / (y + zero) + zero


@kernel("angle")
def angle(xp: Any, x: Any) -> Any:
    """Of real numbers: 0 or pi, nan for nan."""
    return xp.where(xp.isnan(x), x, (x < 0) * x.dtype.type(math.pi))


@kernel("angle_complex")
def angle_complex(xp: Any, x: Any) -> Any:
    return xp.angle(x)


# Views between complex and real ---------------------------------------------------------------------


def complex32() -> Any:
    """The type of complex numbers in half precision."""
    import ml_dtypes

    return ml_dtypes.complex32


def parts(xp: Any, x: Any) -> Any:
    """Complex numbers as pairs in the same memory. The kind of complex32 is W; NumPy itself does not know its parts."""
    kind = xp.float16 if x.dtype.kind == "W" else x.real.dtype
    return xp.lib.stride_tricks.as_strided(
        x[..., None].view(kind)[..., :1], (*x.shape, 2), (*x.strides, x.dtype.itemsize // 2)
    )


@kernel("real")
def real(xp: Any, x: Any) -> Any:
    return parts(xp, x)[..., 0] if x.dtype.kind == "W" else x.real


@kernel("imag")
def imag(xp: Any, x: Any) -> Any:
    return x.imag if x.dtype.kind == "c" else parts(xp, x)[..., 1]


@kernel("view_as_real")
def view_as_real(xp: Any, x: Any) -> Any:
    if not isinstance(x, xp.ndarray):
        x = xp.asarray(x)  # a gradient of no dimension may be a scalar, whose parts are copies
    if x.dtype.kind == "W":
        return parts(xp, x)
    part = x.real
    return strided(part, (*x.shape, 2), (*x.strides, part.itemsize))


@kernel("view_as_complex")
def view_as_complex(xp: Any, x: Any) -> Any:
    kind = xp.complex128 if x.dtype.itemsize == 8 else xp.complex64 if x.dtype.itemsize == 4 else complex32()
    if x.strides[-1] != x.itemsize:  # only a gradient: a tensor was checked to be a view before
        x = xp.ascontiguousarray(x)
    return x.view(kind)[..., 0]


@kernel("frexp")
def frexp(xp: Any, x: Any) -> Any:
    mantissa, exponent = xp.frexp(x)
    return xp.asarray(mantissa), xp.asarray(exponent)

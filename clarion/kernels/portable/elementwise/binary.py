"""Functions of two arrays, element by element."""

from __future__ import annotations

from typing import Any

from ...layout import empty_like
from ...quiet import quietly
from ...registry import kernel, ufunc

ufunc("atan2", "arctan2")
ufunc("hypot")
ufunc("copysign")
ufunc("copysign_scalar", "copysign")
ufunc("nextafter")


@quietly
def xlogy(xp: Any, x: Any, y: Any) -> Any:
    return xp.where((x == 0) & ~xp.isnan(y), xp.zeros((), x.dtype), x * xp.log(y))


# With two tensors, a number first, a number second: three nodes, one kernel.
for _name in ("xlogy", "xlogy_number", "xlogy_by"):
    kernel(_name)(xlogy)


@kernel("logaddexp")
@quietly
def logaddexp(xp: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind != "c":
        return xp.logaddexp(x, y)
    # The larger real part is taken out; equal infinities stand for themselves.
    first = x.real >= y.real
    high, low = xp.where(first, x, y), xp.where(first, y, x)
    same = xp.isinf(high.real) & (high.real == low.real)
    plain = xp.where(high.real > 0, xp.log(xp.exp(low) + xp.exp(high)), high)
    return xp.where(same, plain, high + xp.log1p(xp.exp(low - high)))


@kernel("logaddexp2")
def logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    return xp.logaddexp2(x, y)


@kernel("heaviside")
def heaviside(xp: Any, x: Any, values: Any) -> Any:
    return xp.where(x == 0, values, (x > 0).astype(x.dtype))


@kernel("ldexp")
@quietly
def ldexp(xp: Any, x: Any, y: Any) -> Any:
    return x * xp.exp2(y.astype(x.dtype) if y.dtype.kind == "i" else y)


@kernel("complex")
def complex(xp: Any, real: Any, imag: Any) -> Any:
    shape, kind = xp.broadcast_shapes(real.shape, imag.shape), "c16" if real.dtype.itemsize == 8 else "c8"
    result = empty_like(real, kind, xp) if shape == real.shape else xp.empty(shape, kind)
    result.real = real
    result.imag = imag
    return result


@kernel("polar")
def polar(xp: Any, abs: Any, angle: Any) -> Any:
    return complex(xp, abs * xp.cos(angle), abs * xp.sin(angle))

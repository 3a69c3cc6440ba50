"""Choosing between values: where, clamp, minimum, masks, writing over."""

from __future__ import annotations

from typing import Any

from ...layout import empty_like
from ...registry import kernel, raw, ufunc

ufunc("minimum")
ufunc("maximum")
ufunc("fmin")
ufunc("fmax")
ufunc("clamp_min", "maximum")
ufunc("clamp_min_tensor", "maximum")
ufunc("clamp_max", "minimum")
ufunc("clamp_max_tensor", "minimum")


@kernel("where")
def where(xp: Any, condition: Any, x: Any, y: Any) -> Any:
    return xp.where(condition, x, y)


def clamp(xp: Any, x: Any, low: Any, high: Any, *, out: Any = None) -> Any:
    if high is None:
        return xp.maximum(x, low, out=out)
    if low is None:
        return xp.minimum(x, high, out=out)
    x = xp.maximum(x, low, out=out)
    reuse = x.ndim and not xp.ndim(high)  # nobody else sees the array of the first step
    return xp.minimum(x, high, out=x if reuse else out)


kernel("clamp")(clamp)


@kernel("clamp_tensor")
def clamp_tensor(xp: Any, x: Any, low: Any, high: Any) -> Any:
    return clamp(xp, x, low, high)


def _fits(value: Any, target: Any) -> bool:
    """Is it one number of the type of `target`, or one of Python's that becomes one?"""
    if type(value) is float or type(value) is int:
        return bool(target.dtype.kind == "f" and target.itemsize > 2)
    return getattr(value, "dtype", None) is target.dtype and not value.ndim


def masked_fill(xp: Any, x: Any, mask: Any, value: Any, *, out: Any = None) -> Any:
    if out is None:
        shape = x.shape if mask.shape == x.shape else xp.broadcast_shapes(x.shape, mask.shape)
        if shape and shape == x.shape:
            out = x.copy()
        else:  # an array even of a NumPy scalar, which is what arithmetic makes of 0-dim gradients
            out = xp.array(xp.broadcast_to(x, shape), order="C")
    elif mask.shape != out.shape:
        mask = xp.broadcast_to(mask, xp.broadcast_shapes(out.shape, mask.shape))
    if mask.shape == out.shape and _fits(value, out) and 0 not in out.strides:
        xp.putmask(out, mask, value)  # twice as fast (in an expanded array it puts back what was not to be written)
        return out
    xp.copyto(out, real_for(value, out), where=mask, casting="unsafe")
    return out


kernel("masked_fill")(masked_fill)
kernel("masked_fill_tensor")(masked_fill)


def real_for(value: Any, target: Any) -> Any:
    """Complex values written to a real array lose their imaginary part, silently."""
    if getattr(value, "dtype", target.dtype).kind == "c" and target.dtype.kind not in "cbW":
        return value.real
    return value


MANY = 1 << 16  # elements from which several threads may write them


@kernel("write_at_once")
def write_at_once(xp: Any, out: Any, source: Any) -> bool:
    """Write an array, or one number everywhere, by several threads; False where nobody offers that."""
    return False


def copy(xp: Any, x: Any, source: Any, *, out: Any = None) -> Any:
    """`source` in the shape and type of `x`."""
    if out is None:
        out = empty_like(x, None, xp)
    if out.size >= MANY and raw.write_at_once(out, source):
        return out
    is_complex = getattr(source, "dtype", out.dtype).kind == "c"
    out[...] = real_for(source, out) if is_complex else source
    return out


# Four names, one kernel: PyTorch tells copy_, fill and the two kinds of fill_ apart.
for _name in ("copy", "fill", "fill_tensor", "fill_scalar_into", "fill_tensor_into"):
    kernel(_name)(copy)


@kernel("zero")
def zero(xp: Any, x: Any, *, out: Any = None) -> Any:
    if out is None:
        return xp.zeros_like(x)
    if out.size < MANY or not raw.write_at_once(out, 0):
        out.fill(0)
    return out

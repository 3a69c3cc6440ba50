"""Conversion between data types, and transfer between devices."""

from __future__ import annotations

from typing import Any

from ...float8 import to_float8
from ...registry import kernel
from .unary import parts


@kernel("cast")
def cast(xp: Any, x: Any, dtype: Any) -> Any:
    if x.dtype.kind in "cW" and dtype.kind not in "cWb":
        x = x.real if x.dtype.kind == "c" else parts(xp, x)[..., 0]
    if dtype.itemsize == 1 and dtype.kind in "Vf":
        return to_float8(xp, x, dtype)
    return x.astype(dtype, order="C" if 0 in x.strides else "K")


@kernel("cast_all")
def cast_all(xp: Any, arrays: list[Any], dtype: Any) -> list[Any]:
    return [x.astype(dtype) for x in arrays]


@kernel("transfer")
def transfer(xp: Any, x: Any, send: Any, back: Any) -> Any:
    return send(x)


@kernel("cast_into")
def cast_into(xp: Any, x: Any, target: Any) -> Any:
    """Copy into memory of another type."""
    target[...] = x
    return target

"""Conversion between data types, and transfer between devices."""

from __future__ import annotations

from typing import Any

from ...registry import kernel


@kernel("cast")
def cast(xp: Any, x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype, order="C" if 0 in x.strides else "K")


@kernel("cast_all")
def cast_all(xp: Any, arrays: list[Any], dtype: Any) -> list[Any]:
    return [x.astype(dtype) for x in arrays]


@kernel("transfer")
def transfer(xp: Any, x: Any, send: Any, back: Any) -> Any:
    return send(x)

"""Floating-point numbers of eight bits: how PyTorch rounds what does not fit."""

from __future__ import annotations

from typing import Any


def to_float8(xp: Any, x: Any, dtype: Any) -> Any:
    """An array in a type of eight bits."""
    if dtype.name == "float8_e4m3fn":  # it has no infinity: what is too large becomes the largest number
        x = xp.clip(x.astype(xp.float32), -448.0, 448.0)
    elif dtype.name == "float8_e8m0fnu":  # powers of two alone: no sign, no zero
        x = xp.maximum(abs(x.astype(xp.float32)), xp.float32(2.0**-127))
    return x.astype(dtype, order="C" if 0 in x.strides else "K")

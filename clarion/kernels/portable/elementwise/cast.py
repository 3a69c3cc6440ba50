"""Conversion between data types."""

from __future__ import annotations

from typing import Any

from ...registry import kernel


@kernel("cast")
def cast(xp: Any, x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype)

"""Reductions. `dim` is a tuple of dimensions counted from the front, or None for all."""

from __future__ import annotations

from typing import Any

from ..registry import kernel


@kernel("sum")
def sum(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return xp.add.reduce(x, axis=dim, keepdims=keepdim)

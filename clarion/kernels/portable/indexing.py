"""Taking parts of an array: views by integers and slices, copies by index arrays."""

from __future__ import annotations

from typing import Any

from ..registry import kernel

# Basic indexing: views -----------------------------------------------------------------------------


@kernel("select")
def select(xp: Any, x: Any, dim: int, index: int) -> Any:
    # The Ellipsis keeps the result an array (NumPy would return a scalar for the last dimension).
    return x[(slice(None),) * dim + (index, ...)]


@kernel("select_backward")
def select_backward(xp: Any, g: Any, shape: tuple[int, ...], dim: int, index: int) -> Any:
    whole = xp.zeros(shape, g.dtype)
    whole[(slice(None),) * dim + (index,)] = g
    return whole


@kernel("slice")
def slice_(xp: Any, x: Any, dim: int, start: int | None, stop: int | None, step: int) -> Any:
    return x[(slice(None),) * dim + (slice(start, stop, step),)]


@kernel("slice_backward")
def slice_backward(
    xp: Any, g: Any, shape: tuple[int, ...], dim: int, start: int | None, stop: int | None, step: int
) -> Any:
    whole = xp.zeros(shape, g.dtype)
    whole[(slice(None),) * dim + (slice(start, stop, step),)] = g
    return whole


@kernel("alias")
def alias(xp: Any, x: Any) -> Any:
    return x[...]

"""Parts that lie side by side already are joined without a copy."""

from __future__ import annotations

import math
from typing import Any

import cupy

from ..registry import offer


def _lie_together(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> bool:
    """Are the parts in one piece of memory, in order and without gaps? (As gradients of query, key and value are: triton/attention.py.)"""
    first = parts[0]
    if first is None:
        return False
    memory, place, kind = first.data.mem, first.data.ptr, first.dtype
    size = first.itemsize
    steps = tuple([math.prod(shape[d + 1 :]) * size for d in range(len(shape))])
    if place != memory.ptr:
        return False
    for part, n in zip(parts, sizes, strict=True):
        if part is None or part.data.mem is not memory or part.data.ptr != place or part.dtype != kind:
            return False
        if part.strides != steps or part.shape[dim] != n:
            return False
        place += n * steps[dim]
    return True


@offer("unsplit", "views", accepts=_lie_together)
def unsplit(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    """The array that the parts lie in."""
    return cupy.ndarray(shape, parts[0].dtype, parts[0].data)

"""Parts that lie side by side already are joined without a copy."""

from __future__ import annotations

import math
from typing import Any

from ..registry import offer


def _lie_together(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> bool:
    """Are the parts views of one array that is the whole? (As gradients of query, key and value are: triton/attention.py.)"""
    whole = getattr(parts[0], "base", None)
    if whole is None or not whole._c_contiguous or whole.size != math.prod(shape):
        return False
    size = whole.itemsize
    steps = tuple([math.prod(shape[d + 1 :]) * size for d in range(len(shape))])
    place = whole.data.ptr
    for part, n in zip(parts, sizes, strict=True):
        if part is None or part.base is not whole or part.data.ptr != place or part.strides != steps:
            return False
        place += n * steps[dim]
    return True


@offer("unsplit", "views", accepts=_lie_together)
def unsplit(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    """The array that the parts are views of."""
    return parts[0].base.reshape(shape)

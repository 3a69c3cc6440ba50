"""Arrays full of one number; large ones are written by several threads, where there are some."""

from __future__ import annotations

import math
from typing import Any

from ...core.devices import HOST, ndarray
from ...kernels.registry import raw

MANY = 1 << 16  # elements


def full_of(xp: Any, shape: tuple[int, ...], value: Any, kind: Any) -> Any:
    """A new array, full of a number."""
    large = xp is HOST.xp and math.prod(shape) >= MANY
    return fill(xp.empty(shape, kind), value) if large else xp.full(shape, value, kind)


def fill(array: Any, value: Any) -> Any:
    """The array, full of a number."""
    if array.size >= MANY and type(array) is ndarray:
        return raw.fill(array, value, out=array)
    array.fill(value)
    return array

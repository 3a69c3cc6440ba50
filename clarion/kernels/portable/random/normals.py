"""Normal numbers from uniform ones, and uniform ones between others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...boxmuller import box_muller32, fma32
from ...registry import kernel


@kernel("normals_by_sixteen")
def normals_by_sixteen(xp: Any, unit: Any, mean: float, std: float, exact: bool) -> Any:
    """Normals in place of uniform float32, sixteen by sixteen, as PyTorch makes them."""
    return box_muller32(unit, mean, std, exact)


@kernel("uniforms_between")
def uniforms_between(xp: Any, unit: Any, low: float, high: float) -> Any:
    """Uniform float32 of [low, high) in place of those of [0, 1), as PyTorch makes them."""
    start, end = np.float32(low), np.float32(high)
    unit[...] = fma32(unit, end - start, start)
    if low:
        unit[unit == end] = start  # rounding has reached the open end
    return unit

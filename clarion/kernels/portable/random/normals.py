"""Normal numbers from uniform ones."""

from __future__ import annotations

from typing import Any

from ...boxmuller import box_muller32
from ...registry import kernel


@kernel("normals_by_sixteen")
def normals_by_sixteen(xp: Any, unit: Any, mean: float, std: float, exact: bool) -> Any:
    """Normals in place of uniform float32, sixteen by sixteen, as PyTorch makes them."""
    return box_muller32(unit, mean, std, exact)

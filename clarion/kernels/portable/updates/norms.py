"""The norm of many arrays together, by which gradients are clipped."""

from __future__ import annotations

import math
from typing import Any

from ...registry import kernel


@kernel("total_norm")
def total_norm(xp: Any, arrays: list[Any], order: float) -> float:
    """The norm of all elements of all arrays, as a Python number."""
    if order == 2.0:
        total = 0.0
        for array in arrays:
            total += _squares(xp, array)
        return math.sqrt(total) if total < math.inf else total
    sizes = [xp.abs(a if a.dtype.kind == "c" else a.astype(xp.float64)) for a in arrays]
    if order == math.inf:
        return _extreme([float(a.max()) if a.size else 0.0 for a in sizes], max)
    if order == -math.inf:
        return _extreme([float(a.min()) for a in sizes if a.size], min)
    if order == 0:
        # PyTorch takes the norm of the norms: order 0 counts the tensors that are not all zero.
        return float(sum(bool(xp.count_nonzero(a)) for a in sizes))
    return float(xp.asarray(sum(float(xp.sum(a**order)) for a in sizes)) ** (1.0 / order))


@kernel("squares_of_all")
def squares_of_all(xp: Any, arrays: list[Any]) -> Any:
    """The sum of the squares of each array."""
    return [_squares(xp, array) for array in arrays]


@kernel("scale_all")
def scale_all(xp: Any, arrays: list[Any], factor: Any) -> None:
    """All arrays times one number, which is an array without dimensions, in place."""
    for array in arrays:
        array *= factor.astype(array.dtype)


def _squares(xp: Any, array: Any) -> float:
    if array.dtype.char in "fd":
        flat = array.reshape(-1)
        found = float(xp.dot(flat, flat))
        if found < math.inf or array.dtype.char == "d":
            return found
        # Squares of single precision overflow long before their norm does.
    elif array.dtype.kind == "c":
        return float(xp.vdot(array, array).real)
    wide = array.astype(xp.float64).reshape(-1)
    return float(xp.dot(wide, wide)) if array.dtype.char != "f" else float((wide * wide).sum())


def _extreme(values: list[float], which: Any) -> float:
    return math.nan if any(value != value for value in values) else float(which(values))


@kernel("samples_of_all")
def samples_of_all(xp: Any, arrays: list[Any], count: int) -> None:
    """Samples are gathered where that is one launch (triton/together.py); None: not here."""
    return

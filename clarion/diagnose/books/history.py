"""Loss and gradient norms, step by step: what rules on gradients judge, and what the report draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from .records import Backward, Sample, Update


def square(array: Any) -> float:
    """The squared norm of an array; infinite or NaN if an element is, or if it is beyond the range of its type."""
    if array.dtype.kind == "f" and array.dtype.itemsize >= 4:
        flat = array.ravel()
        return float(np.dot(flat, flat))
    return float(np.square(np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))).sum())


def sample(update: Update, backward: Backward | None) -> Sample:
    """Measure the gradients that an update has used."""
    squares: list[float | None] = []
    for leaf in update.leaves:
        grad = leaf._grad
        squares.append(None if grad is None else square(grad._array))
    return Sample(update, squares, backward)


def all_finite(leaves: list[Any]) -> bool:
    """Are the gradients of these leaves finite?"""
    return all(leaf._grad is None or bool(np.isfinite(leaf._grad._array).all()) for leaf in leaves)

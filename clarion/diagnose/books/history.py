"""Loss and gradient norms, step by step: what rules on gradients judge, and what the report draws."""

from __future__ import annotations

from typing import Any

from .. import engine
from .records import Backward, Sample, Update


def sample(update: Update, backward: Backward | None) -> Sample:
    """Measure the gradients that an update has used."""
    gradients = [engine.grad(leaf) for leaf in update.leaves]
    found = iter(engine.squares([gradient for gradient in gradients if gradient is not None]))
    return Sample(update, [None if gradient is None else next(found) for gradient in gradients], backward)


def all_finite(leaves: list[Any]) -> bool:
    """Are the gradients of these leaves finite?"""
    return all(engine.grad(leaf) is None or engine.all_finite(engine.grad(leaf)) for leaf in leaves)

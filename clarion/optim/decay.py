"""What update rules have in common: decay of weights, and how closely a moving average follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from .optimizer import scalar


def decay_of(group: dict[str, Any], read: Callable[[Any], Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """What all rules do before their own work: the words, and the numbers that go with them."""
    words = ("maximize",) if group.get("maximize") else ()
    decay = read(group.get("weight_decay", 0))
    if not isinstance(decay, Tensor) and decay == 0:
        return words, ()
    if group.get("decoupled_weight_decay"):
        return ("shrink", *words), (1 - read(group["lr"]) * decay,)
    return ("decay", *words), (decay,)


def far(weight: Any) -> tuple[str, ...]:
    """The word for a moving average that follows closely: it is counted from the new value."""
    return () if scalar(weight) < 0.5 else ("far",)

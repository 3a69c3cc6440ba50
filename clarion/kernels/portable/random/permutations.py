"""Numbers that change places."""

from __future__ import annotations

from typing import Any

from ...permutation import swap_forward
from ...registry import kernel


@kernel("swapped")
def swapped(xp: Any, targets: Any) -> Any:
    """0, 1, … after place i has been exchanged with place targets[i] >= i, for every i in turn. (Of the host: see permutation.py.)"""
    return swap_forward(targets)

"""`torch.fx._compatibility`: marks that say how stable a function is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A mark: the function itself."""
    return lambda fn: fn

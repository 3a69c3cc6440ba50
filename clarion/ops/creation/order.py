"""In which order the dimensions of a tensor lie in memory."""

from __future__ import annotations

import itertools
from typing import Any

from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError
from ..faces.api import method


@method("dim_order")
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the one with the largest step in memory to the one with the smallest."""
    if not isinstance(ambiguity_check, (bool, list)):
        raise ArgumentTypeError(
            f"The ambiguity_check argument must be a bool or a list of memory formats, not {type(ambiguity_check).__name__}"
        )
    steps = self.stride()
    unsure = 1 in self.shape or any(a == b for a, b in itertools.pairwise(steps))
    if ambiguity_check and unsure:
        formats = ambiguity_check if isinstance(ambiguity_check, list) else []
        if sum(self.is_contiguous(memory_format=form) for form in formats) != 1:
            raise EngineError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
    return tuple(sorted(range(len(steps)), key=lambda dim: -steps[dim]))

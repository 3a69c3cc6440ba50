"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..core.tensor import Tensor
from .folded import Folded
from .normal import Normal


class HalfNormal(Folded):
    """HalfNormal(scale): the absolute value of a normal number around 0."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)  # type: ignore[no-any-return]

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)  # type: ignore[no-any-return]

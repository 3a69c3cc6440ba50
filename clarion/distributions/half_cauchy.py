"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.tensor import Tensor
from .cauchy import Cauchy
from .folded import Folded
from .spellings import same_as


class HalfCauchy(Folded):
    """HalfCauchy(scale): the absolute value of a Cauchy number around 0."""

    variance = same_as("base_dist.variance", "Infinite.")

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Tensor:
        return clarion.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    def log_prob(self, value: Any) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return super().log_prob(clarion.as_tensor(value, dtype=self.scale.dtype))

"""The inverse gamma distribution."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.tensor import Tensor
from . import constraints
from .gamma import Gamma
from .spellings import same_as
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform


class InverseGamma(TransformedDistribution):
    """InverseGamma(concentration, rate): 1 / x of a gamma number x."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        minus_one = -clarion.ones((), dtype=base.rate.dtype)
        super().__init__(base, PowerTransform(minus_one), validate_args=validate_args)

    concentration = same_as("base_dist.concentration", "Of the gamma number.")
    rate = same_as("base_dist.rate", "Of the gamma number.")

    @property
    def mean(self) -> Tensor:
        known = self.rate / (self.concentration - 1)
        return clarion.where(self.concentration > 1, known, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        known = self.rate.square() / ((c - 1).square() * (c - 2))
        return clarion.where(c > 2, known, math.inf)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + c.lgamma() - (1 + c) * c.digamma()

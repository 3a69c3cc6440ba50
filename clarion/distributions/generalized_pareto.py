"""The generalized Pareto distribution: the tails of other distributions."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all


class GeneralizedPareto(Distribution):
    """GeneralizedPareto(loc, scale, concentration): exponential at concentration 0, uniform at -1, heavy tails above 0."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        bounded = self.concentration < 0
        upper = clarion.where(bounded, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    def _safe(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 in these places."""
        zero = clarion.isclose(self.concentration, clarion.zeros_like(self.concentration))
        return zero, clarion.where(zero, clarion.ones_like(self.concentration), self.concentration)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale  # type: ignore[no-any-return]

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self.icdf(clarion.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        z = self._standard(value)
        zero, safe = self._safe()
        y = 1 / safe + clarion.ones_like(z)
        elsewhere = clarion.where(y == 0, y, y * (safe * z).log1p())
        return -self.scale.log() - clarion.where(zero, z, elsewhere)  # type: ignore[no-any-return]

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log(1 - cdf)."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._standard(value)
        zero, safe = self._safe()
        return clarion.where(zero, -z, -(safe * z).log1p() / safe)  # type: ignore[no-any-return]

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of the cdf."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        zero, safe = self._safe()
        log_rest = (-value).log1p()
        elsewhere = self.loc + self.scale / safe * (-safe * log_rest).expm1()
        return clarion.where(zero, self.loc - self.scale * log_rest, elsewhere)  # type: ignore[no-any-return]

    @property
    def mean(self) -> Tensor:
        finite = self.concentration < 1
        safe = clarion.where(finite, self.concentration, 0.5)
        return clarion.where(finite, self.loc + self.scale / (1 - safe), math.nan)  # type: ignore[no-any-return]

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.concentration < 0.5
        safe = clarion.where(finite, self.concentration, 0.25)
        spread = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return clarion.where(finite, spread, math.nan)  # type: ignore[no-any-return]

    def entropy(self) -> Tensor:
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)

"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..ops.faces.api import NN_FUNCTIONAL
from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .spellings import Odds


class NegativeBinomial(Odds, Distribution):
    """NegativeBinomial(total_count, probs): successes before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take_counted_odds(total_count, probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        """Poisson counts whose rates are gamma numbers."""
        with modes.no_grad():
            rates = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return clarion.poisson(rates)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logsigmoid = NN_FUNCTIONAL["logsigmoid"]
        unnormalised = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        total = self.total_count + value
        normaliser = -total.lgamma() + (1.0 + value).lgamma() + self.total_count.lgamma()
        return unnormalised - normaliser.masked_fill(total == 0.0, 0.0)  # type: ignore[no-any-return]

"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..ops.faces.api import NN_FUNCTIONAL
from . import constraints
from .exp_family import ExponentialFamily
from .spellings import Odds, same_as
from .utils import broadcast_all


def cross_entropy(logits: Tensor, probs: Tensor) -> Tensor:
    """-E[log p] of a coin with these log odds, where heads have probability `probs`."""
    return NN_FUNCTIONAL["binary_cross_entropy_with_logits"](logits, probs, reduction="none")


class Bernoulli(Odds, ExponentialFamily):
    """Bernoulli(probs) or Bernoulli(logits=...): 1 or 0."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_odds(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    mean = same_as("probs", "The mean.")

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        with modes.no_grad():
            return clarion.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -cross_entropy(logits, value)

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = clarion.arange(2, dtype=self._param.dtype).view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.probs.logit(),)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.exp().log1p()

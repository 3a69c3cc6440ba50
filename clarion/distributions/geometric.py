"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .bernoulli import cross_entropy
from .distribution import Distribution
from .spellings import Odds
from .utils import broadcast_all


class Geometric(Odds, Distribution):
    """Geometric(probs) or Geometric(logits=...): failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_odds(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            if not bool((value > 0).all()):
                raise ArgumentValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to be positive but found invalid values:\n{value[~(value > 0)]}"
                )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return clarion.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        probs = self.probs.detach()
        u = clarion.empty(self._extended_shape(sample_shape), dtype=probs.dtype)
        u.uniform_(clarion.finfo(probs.dtype).tiny, 1)
        return (u.log() / (-probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs) / self.probs

"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import NotSupportedError
from . import constraints
from .distribution import Distribution
from .spellings import Odds


def _positive_part(x: Tensor) -> Tensor:
    """max(x, 0), with the gradient 1/2 at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(Odds, Distribution):
    """Binomial(total_count, probs) or Binomial(total_count, logits=...): how many trials succeed."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take_counted_odds(total_count, probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        with modes.no_grad():
            return clarion.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return value * logits + ways - n * _positive_part(logits) - n * (-logits.abs()).exp().log1p()

    def _one_count(self, asked: str) -> int:
        count = int(self.total_count.max())
        if not bool((self.total_count == count).all()):
            raise NotSupportedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_count("enumerate_support")
        values = clarion.arange(1 + count, dtype=self._param.dtype).view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import NotSupportedError
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .spellings import OfCategorical
from .utils import broadcast_all


class Multinomial(OfCategorical, Distribution):
    """Multinomial(total_count, probs) or with logits=...: how often each index comes in `total_count` draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotSupportedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = Binomial(total_count=self.total_count, probs=new._categorical.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        draws = self._categorical.sample((self.total_count, *sample_shape)).movedim(0, -1)
        counts = clarion.zeros(self._extended_shape(sample_shape), dtype=draws.dtype)
        return counts.scatter_add_(-1, draws, clarion.ones_like(draws)).type_as(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0.0)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = clarion.tensor(self.total_count)
        values = self._binomial.enumerate_support(expand=False)[1:]
        weighted = self._binomial.log_prob(values).exp() * (values + 1).lgamma()
        return n * self._categorical.entropy() - (n + 1).lgamma() + weighted.sum([0, -1])

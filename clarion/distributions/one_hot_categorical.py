"""Categorical distributions over one-hot vectors."""

from __future__ import annotations

from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..ops.faces.api import NN_FUNCTIONAL
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .spellings import OfCategorical, same_as


class OneHotCategorical(OfCategorical, Distribution):
    """As Categorical, but a value is the vector with a 1 at the index."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    mean = same_as("probs", "The mean.")

    @property
    def mode(self) -> Tensor:
        n = self._categorical._num_events
        return NN_FUNCTIONAL["one_hot"](self.probs.argmax(-1), num_classes=n).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        indices = self._categorical.sample(sample_shape)
        return NN_FUNCTIONAL["one_hot"](indices, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = clarion.eye(n, dtype=self._param.dtype).view((n, *[1] * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Drawn values are one-hot; gradients pass as if they were the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        drawn, probs = self.sample(sample_shape), self._categorical.probs
        return drawn + (probs - probs.detach())

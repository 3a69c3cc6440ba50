"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .distribution import Distribution
from .spellings import TwoSpellings, one_of
from .utils import lazy_property, logits_to_probs, probs_to_logits


class Categorical(TwoSpellings, Distribution):
    """Categorical(probs) or Categorical(logits=...): an index of the last dimension, whose weights are normalised."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        one_of(probs, logits)
        given, name = (logits, "logits") if probs is None else (probs, "probs")
        if given.dim() < 1:
            raise ArgumentValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        return self._param.size(-1)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of each index."""
        return logits_to_probs(self.logits)

    @property
    def mean(self) -> Tensor:
        return clarion.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return clarion.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = clarion.multinomial(rows, math.prod(sample_shape), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        value, logits = clarion.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=clarion.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = clarion.arange(self._num_events).view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

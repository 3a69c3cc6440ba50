"""What families of distributions say in the same words: two spellings of a probability, parts of another distribution."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def one_of(probs: Any, logits: Any) -> None:
    """Probabilities come in one of two spellings."""
    if (probs is None) == (logits is None):
        raise ArgumentValueError("Either `probs` or `logits` must be specified, but not both.")


def same_as(path: str, says: str) -> Any:
    """A property that is what stands at a path in the same distribution: `"loc"`, `"base_dist.scale"`."""
    names = path.split(".")

    def read(self: Any) -> Any:
        for name in names:
            self = getattr(self, name)
        return self

    return property(read, doc=says)


class TwoSpellings:
    """A parameter that is given as probabilities or as logits: the other is computed when it is asked for."""

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.__dict__["logits"]  # type: ignore[no-any-return]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.size()


class Odds(TwoSpellings):
    """The chance of one outcome of two."""

    def _take_odds(self, probs: Any, logits: Any) -> None:
        one_of(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)

    def _take_counted_odds(self, total_count: Any, probs: Any, logits: Any) -> None:
        one_of(probs, logits)
        if probs is not None:
            self.total_count, self.probs = broadcast_all(total_count, probs)
        else:
            self.total_count, self.logits = broadcast_all(total_count, logits)
        self.total_count = self.total_count.type_as(self._param)

    @lazy_property
    def logits(self) -> Tensor:
        """Log odds of success."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)


class OfCategorical:
    """A distribution around a categorical one, whose parameters are its parameters."""

    _categorical: Any
    _param = same_as("_categorical._param", "The spelling that was given.")
    logits = same_as("_categorical.logits", "Logarithms of the probabilities.")
    probs = same_as("_categorical.probs", "The probability of each index.")
    param_shape = same_as("_categorical.param_shape", "The shape of the parameter.")

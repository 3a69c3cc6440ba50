"""Exponential families: their entropy from the log normaliser."""

from __future__ import annotations

from typing import Any

from ..autograd import grad
from ..core import modes
from ..core.tensor import Tensor
from .distribution import Distribution


class ExponentialFamily(Distribution):
    """Densities exp(<natural parameters, t(x)> - A(natural parameters) + k(x)).

    A family gives `_natural_params`, `_log_normalizer` (A) and `_mean_carrier_measure` (the mean of k).
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """By the derivative of the log normaliser, which is the mean of t(x)."""
        with modes.enable_grad():
            params = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*params)
            means = grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for param, mean in zip(params, means, strict=True):
            result = result - (param * mean).reshape((*self._batch_shape, -1)).sum(-1)
        return result

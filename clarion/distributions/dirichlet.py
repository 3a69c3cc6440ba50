"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import clarion

from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from ..ops.faces.api import NN_FUNCTIONAL
from . import constraints
from .exp_family import ExponentialFamily


class Dirichlet(ExponentialFamily):
    """Dirichlet(concentration): a point of the simplex."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ArgumentValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        at_corner = (self.concentration < 1).all(-1)
        corner = NN_FUNCTIONAL["one_hot"](mode.argmax(-1), self.concentration.shape[-1]).to(mode)
        return clarion.where(at_corner.unsqueeze(-1), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return clarion._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        c = self.concentration
        return (c - 1.0).xlogy(value).sum(-1) + c.sum(-1).lgamma() - c.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        c, k = self.concentration, self.concentration.size(-1)
        total = c.sum(-1)
        normaliser = c.lgamma().sum(-1) - total.lgamma()
        return normaliser - (k - total) * total.digamma() - ((c - 1.0) * c.digamma()).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Tensor:
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()

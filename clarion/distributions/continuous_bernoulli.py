"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .bernoulli import cross_entropy
from .exp_family import ExponentialFamily
from .spellings import Odds, one_of
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs


class ContinuousBernoulli(Odds, ExponentialFamily):
    """ContinuousBernoulli(probs) or (logits=...): between 0 and 1, with densities in the ratio of a coin's chances.

    Between `lims` the formulas lose their digits: series around 1/2 take their place.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        one_of(probs, logits)
        if probs is not None:
            (given,) = broadcast_all(probs)
            if validate_args is not None and not bool(constraints.unit_interval.check(given).all()):
                raise ArgumentValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(given)
        else:
            (self.logits,) = broadcast_all(logits)
        self._lims = lims
        number = isinstance(logits if probs is None else probs, Number)
        super().__init__(Size() if number else self._param.size(), validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._lims = self._lims

    @lazy_property
    def probs(self) -> Tensor:
        """The chance of the coin."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _either(self, formula: Any, series: Tensor) -> Tensor:
        """The formula (of probabilities off the middle) where it is stable, and the series where it is not."""
        stable = self._stable()
        cut = clarion.where(stable, self.probs, self._lims[0] * clarion.ones_like(self.probs))
        return clarion.where(stable, formula(cut), series)  # type: ignore[no-any-return]

    def _log_norm(self) -> Tensor:
        """The logarithm of the constant that makes the density integrate to 1."""

        def formula(cut: Tensor) -> Tensor:
            below = clarion.where(cut <= 0.5, cut, clarion.zeros_like(cut))
            above = clarion.where(cut >= 0.5, cut, clarion.ones_like(cut))
            width = clarion.where(cut <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
            return ((-cut).log1p() - cut.log()).abs().log() - width  # type: ignore[no-any-return]

        x = (self.probs - 0.5).pow(2)
        return self._either(formula, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x
        return self._either(lambda cut: cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log()), series)

    @property
    def variance(self) -> Tensor:
        x = (self.probs - 0.5).pow(2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return self._either(
            lambda cut: cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2), series
        )

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        with modes.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self.icdf(clarion.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -cross_entropy(logits, value) + self._log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = self._either(
            lambda cut: (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0), value
        )
        upper = clarion.where(value >= 1.0, clarion.ones_like(value), inside)
        return clarion.where(value <= 0.0, clarion.zeros_like(value), upper)  # type: ignore[no-any-return]

    def icdf(self, value: Tensor) -> Tensor:
        return self._either(
            lambda cut: ((-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()) / (cut.log() - (-cut).log1p()),
            value,
        )

    def entropy(self) -> Tensor:
        tails, heads = (-self.probs).log1p(), self.probs.log()
        return self.mean * (tails - heads) - self._log_norm() - tails

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Tensor:
        stable = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = clarion.where(stable, x, (self._lims[0] - 0.5) * clarion.ones_like(x))
        formula = cut.expm1().abs().log() - cut.abs().log()
        return clarion.where(stable, formula, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)  # type: ignore[no-any-return]

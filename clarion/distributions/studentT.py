"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import Size
from ..core.tensor import Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution, standard_normal
from .utils import broadcast_all


class StudentT(Distribution):
    """StudentT(df, loc, scale)."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._chi2 = self._chi2.expand(batch_shape)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        known = self.scale.pow(2) * self.df / (self.df - 2)
        return known.masked_fill(self.df <= 2, math.inf).masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        normal = standard_normal(self._extended_shape(sample_shape), self.df.dtype)
        return self.loc + self.scale * (normal * (self._chi2.rsample(sample_shape) / self.df).rsqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        y, df = (value - self.loc) / self.scale, self.df
        normaliser = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        normaliser = normaliser + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - normaliser

    def entropy(self) -> Tensor:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        lbeta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + lbeta

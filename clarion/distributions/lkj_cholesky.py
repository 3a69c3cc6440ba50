"""The distribution of Lewandowski, Kurowicka and Joe: Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core import modes
from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all


class LKJCholesky(Distribution):
    """LKJCholesky(dim, concentration): the density of L L' is proportional to its determinant^(concentration - 1)."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ArgumentValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The length of each row left of the diagonal, squared, is a beta number.
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = clarion.arange(dim - 1, dtype=self.concentration.dtype)
        offset = clarion.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new.dim = self.dim
        new._beta = self._beta.expand((*batch_shape, self.dim))

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        """By the onion method: row by row a direction and a length, and on the diagonal what is left of 1."""
        with modes.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1).sqrt()
            normal = clarion.randn(self._extended_shape(sample_shape), dtype=length.dtype).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row has none
            w = length * direction
            left = (1 - (w**2).sum(-1)).clamp(min=clarion.finfo(w.dtype).tiny).sqrt()
            return w + left.diag_embed()  # type: ignore[no-any-return]

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - clarion.arange(2, self.dim + 1)
        rest = self.dim - 1
        alpha = self.concentration + 0.5 * rest
        normalizer = 0.5 * rest * math.log(math.pi) + (alpha - 0.5).mvlgamma(rest) - alpha.lgamma() * rest
        return (order * diagonal.log()).sum(-1) - normalizer  # type: ignore[no-any-return]

"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .distribution import Distribution, standard_normal
from .spellings import same_as
from .utils import lazy_property, solve_lower


def batch_mv(matrix: Tensor, vector: Tensor) -> Tensor:
    """Matrix times vector, each with a batch."""
    return clarion.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def eye_like(matrix: Tensor) -> Tensor:
    """The unit matrix of the size of the last dimension."""
    return clarion.eye(matrix.shape[-1], dtype=matrix.dtype)


def batch_mahalanobis(lower: Tensor, diff: Tensor) -> Tensor:
    """diff' (L L')^-1 diff. L is inverted once, however many vectors there are."""
    return batch_mv(solve_lower(lower, eye_like(lower).expand(lower.shape)), diff).pow(2).sum(-1)


def precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse, from that of the matrix written backwards."""
    backwards = clarion.linalg.cholesky(precision.flip((-2, -1)))
    upper = backwards.flip((-2, -1)).transpose(-2, -1)
    return solve_lower(upper, eye_like(precision).expand(precision.shape))


def log_diagonal(lower: Tensor) -> Tensor:
    """Half the log determinant of L L'."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


_batch_mv, _batch_mahalanobis, _precision_to_scale_tril = batch_mv, batch_mahalanobis, precision_to_scale_tril


class MultivariateNormal(Distribution):
    """MultivariateNormal(loc, covariance_matrix), or with precision_matrix= or scale_tril= (its Cholesky factor)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ArgumentValueError("loc must be at least one-dimensional.")
        named = {
            "covariance_matrix": covariance_matrix,
            "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }
        given = {name: matrix for name, matrix in named.items() if matrix is not None}
        if len(given) != 1:
            raise ArgumentValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            title = "scale_tril matrix" if name == "scale_tril" else name
            raise ArgumentValueError(
                f"{title} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = clarion.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            self._unbroadcasted_scale_tril = clarion.linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = precision_to_scale_tril(matrix)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril

    def _matrix_shape(self) -> tuple[int, ...]:
        return (*self._batch_shape, *self._event_shape, *self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        lower = self._unbroadcasted_scale_tril
        return (lower @ lower.mT).expand(self._matrix_shape())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        lower = self._unbroadcasted_scale_tril
        inverse = solve_lower(lower, eye_like(lower).expand(lower.shape))
        return (inverse.mT @ inverse).expand(self._matrix_shape())

    mean = same_as("loc", "The mean.")
    mode = same_as("loc", "Where the density is highest.")

    @property
    def variance(self) -> Tensor:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        eps = standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        distance = batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + distance) - log_diagonal(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)

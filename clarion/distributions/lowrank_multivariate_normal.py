"""The normal distribution of vectors whose covariance is a diagonal and a product of thin matrices."""

from __future__ import annotations

import math
from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .distribution import Distribution, standard_normal
from .multivariate_normal import batch_mahalanobis, batch_mv, eye_like, log_diagonal
from .spellings import same_as
from .utils import lazy_property, solve_lower


class LowRankMultivariateNormal(Distribution):
    """LowRankMultivariateNormal(loc, cov_factor, cov_diag): the covariance is W W' + D.

    W has few columns. The capacitance I + W' D^-1 W is as small, and with it the inverse and the determinant come
    without any large matrix (the identities of Woodbury and Sylvester).
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ArgumentValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ArgumentValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise ArgumentValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ArgumentValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            wide_loc, self.cov_factor, wide_diag = clarion.broadcast_tensors(
                loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
            )
        except RuntimeError as error:
            raise ArgumentValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = wide_loc[..., 0], wide_diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        capacitance = self._scaled_factor() @ cov_factor
        self._capacitance_tril = clarion.linalg.cholesky(capacitance + eye_like(capacitance))
        super().__init__(self.loc.shape[:-1], event_shape, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))

    def _scaled_factor(self) -> Tensor:
        """W' D^-1."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)  # type: ignore[no-any-return]

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *self._event_shape, *self._event_shape))  # type: ignore[no-any-return]

    mean = same_as("loc", "The mean.")
    mode = same_as("loc", "Where the density is highest.")

    @lazy_property
    def variance(self) -> Tensor:
        total = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return total.expand((*self._batch_shape, *self._event_shape))  # type: ignore[no-any-return]

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance; taken from a matrix whose eigenvalues are not below 1."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        factor = self._unbroadcasted_cov_factor / root
        inner = factor @ factor.mT
        return self._whole(root * clarion.linalg.cholesky(inner + eye_like(inner)))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._whole(factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        a = solve_lower(self._capacitance_tril, self._scaled_factor())
        return self._whole(self._unbroadcasted_cov_diag.reciprocal().diag_embed() - a.mT @ a)

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        shape = self._extended_shape(sample_shape)
        along = standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc.dtype)
        own = standard_normal(shape, self.loc.dtype)
        spread = batch_mv(self._unbroadcasted_cov_factor, along)
        return self.loc + spread + self._unbroadcasted_cov_diag.sqrt() * own

    def log_determinant(self) -> Tensor:
        """The logarithm of the covariance's determinant."""
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def distance(self, diff: Tensor) -> Tensor:
        """diff' covariance^-1 diff."""
        inner = batch_mahalanobis(self._capacitance_tril, batch_mv(self._scaled_factor(), diff))
        return (diff.pow(2) / self._unbroadcasted_cov_diag).sum(-1) - inner

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self.log_determinant() + self.distance(value - self.loc))

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (0.5 * (constant + self.log_determinant())).expand(self._batch_shape)

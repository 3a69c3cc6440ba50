"""The Wishart distribution: covariance matrices of normal vectors."""

from __future__ import annotations

import math
import warnings
from numbers import Number
from typing import Any

import clarion

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import eye_like, log_diagonal, precision_to_scale_tril
from .utils import lazy_property


class Wishart(ExponentialFamily):
    """Wishart(df, covariance_matrix), or with precision_matrix= or scale_tril= (its Cholesky factor)."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self) -> dict[str, Any]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        named = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: matrix for name, matrix in named.items() if matrix is not None}
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ArgumentValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        if isinstance(df, Number):
            batch_shape = Size(matrix.shape[:-2])
            self.df = clarion.tensor(df, dtype=matrix.dtype)
        else:
            batch_shape = clarion.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        event_shape = matrix.shape[-2:]
        self._check_freedom(df, event_shape[-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if name == "covariance_matrix":
            matrix = clarion.linalg.cholesky(matrix)
        elif name == "precision_matrix":
            matrix = precision_to_scale_tril(matrix)
        self._unbroadcasted_scale_tril = matrix
        self._chi2 = self._squares(self.df, batch_shape)

    def _check_freedom(self, df: Any, n: int) -> None:
        if bool(self.df.le(n - 1).any()):
            raise ArgumentValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if bool(self.df.lt(n).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=3,
            )

    def _squares(self, df: Tensor, batch_shape: Size) -> Chi2:
        """Of the squares of the diagonal in Bartlett's decomposition."""
        lower = self._unbroadcasted_scale_tril
        steps = clarion.arange(self._event_shape[-1], dtype=lower.dtype)
        return Chi2(df=df.unsqueeze(-1) - steps.expand((*batch_shape, -1)))

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand((*batch_shape, *self._event_shape))
        new._chi2 = self._squares(new.df, batch_shape)

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *self._event_shape))  # type: ignore[no-any-return]

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the normal vectors."""
        lower = self._unbroadcasted_scale_tril
        return self._whole(lower @ lower.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        lower = self._unbroadcasted_scale_tril
        return self._whole(clarion.cholesky_solve(eye_like(lower), lower))

    def _times_covariance(self, factor: Tensor) -> Tensor:
        return factor.view((*self._batch_shape, 1, 1)) * self.covariance_matrix  # type: ignore[no-any-return]

    @property
    def mean(self) -> Tensor:
        return self._times_covariance(self.df)

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._times_covariance(factor.masked_fill(factor <= 0, math.nan))

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        spread = covariance.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view((*self._batch_shape, 1, 1)) * spread

    def _bartlett(self, sample_shape: Any) -> Tensor:
        """Draws from a random triangular matrix: roots of chi-squares on the diagonal, normal numbers below."""
        n = self._event_shape[-1]
        roots = self._chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=clarion.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = clarion.tril_indices(n, n, offset=-1)
        noise[..., i, j] = clarion.randn((*sample_shape, *self._batch_shape, n * (n - 1) // 2), dtype=noise.dtype)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT  # type: ignore[no-any-return]

    def rsample(self, sample_shape: Any = Size(), max_try_correction: int | None = None) -> Tensor:  # noqa: B008
        """Draws; singular ones are drawn again, up to `max_try_correction` times (10 if nothing is said).

        PyTorch's first test takes draws for singular that are not: draws from the same seed agree because this one does
        the same, without its warning of it.
        """
        sample_shape = Size(sample_shape)
        sample = self._bartlett(sample_shape)
        again = self._over_batch(self.support.check(sample))
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not bool(again.any()):
                break
            drawn = self._bartlett(again[again].shape)
            sample[again] = drawn
            still = again.clone()  # the graph keeps `again`: it must not be written to
            still[again] = self._over_batch(~self.support.check(drawn))
            again = still
        return sample

    def _over_batch(self, singular: Tensor) -> Tensor:
        dims = [-(i + 1) for i in range(len(self._batch_shape))]
        return singular.amax(dims) if dims else singular  # type: ignore[no-any-return]

    def _log_volume(self) -> Tensor:
        return self._event_shape[-1] * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        trace = clarion.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(-1)
        volume = (nu - p - 1) / 2 * clarion.linalg.slogdet(value).logabsdet
        return -nu * self._log_volume() - (nu / 2).mvlgamma(p) + volume - trace / 2  # type: ignore[no-any-return]

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        steps = clarion.arange(p, dtype=nu.dtype) / 2
        slopes = (nu.unsqueeze(-1) / 2 - steps).digamma().sum(-1)
        return (p + 1) * self._log_volume() + (nu / 2).mvlgamma(p) - (nu - p - 1) / 2 * slopes + nu * p / 2  # type: ignore[no-any-return]

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Tensor:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-clarion.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + half.mvlgamma(p)  # type: ignore[no-any-return]

"""Batch dimensions taken as part of the value."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import Size
from ..core.tensor import Tensor
from ..errors import ArgumentValueError, NotSupportedError
from . import constraints
from .distribution import Distribution
from .spellings import same_as
from .utils import sum_rightmost


class Independent(Distribution):
    """Independent(base, n): the last n batch dimensions of `base` become part of the value."""

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ArgumentValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = (*base_distribution.batch_shape, *base_distribution.event_shape)
        cut = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        more = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(Size((*batch_shape, *more)))
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample  # type: ignore[no-any-return]

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        support = self.base_dist.support
        n = self.reinterpreted_batch_ndims
        return constraints.independent(support, n) if n else support

    mean = same_as("base_dist.mean", "The mean.")
    mode = same_as("base_dist.mode", "Where the density is highest.")
    variance = same_as("base_dist.variance", "The variance.")

    def sample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self.base_dist.sample(sample_shape)  # type: ignore[no-any-return]

    def rsample(self, sample_shape: Any = Size()) -> Tensor:  # noqa: B008
        return self.base_dist.rsample(sample_shape)  # type: ignore[no-any-return]

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotSupportedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"

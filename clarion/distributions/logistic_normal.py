"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import constraints
from .independent import Independent
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform


class LogisticNormal(TransformedDistribution):
    """LogisticNormal(loc, scale): a point of the simplex, by breaking sticks with normal numbers."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def _normal(self) -> Any:
        return self.base_dist.base_dist if isinstance(self.base_dist, Independent) else self.base_dist

    @property
    def loc(self) -> Tensor:
        """Means of the normal numbers."""
        return self._normal().loc  # type: ignore[no-any-return]

    @property
    def scale(self) -> Tensor:
        """Standard deviations of the normal numbers."""
        return self._normal().scale  # type: ignore[no-any-return]

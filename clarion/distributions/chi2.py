"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import Size
from ..core.tensor import Tensor
from . import constraints
from .gamma import Gamma


class Chi2(Gamma):
    """Chi2(df): the sum of `df` squared standard normals."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _expand_rest(self, new: Any, batch_shape: Size) -> None:
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2

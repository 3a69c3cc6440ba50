"""Fractional max pooling layers."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentValueError
from . import functional as F
from .module import Module


class _FractionalMaxPoolNd(Module):
    _n = 0

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ArgumentValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ArgumentValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = self._each(kernel_size)
        self.output_size = None if output_size is None else self._each(output_size)
        self.output_ratio = None if output_ratio is None else self._each(output_ratio)
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ArgumentValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def _each(self, value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * self._n

    def forward(self, input: Any) -> Any:
        """The largest element of each window."""
        pool = getattr(F, f"fractional_max_pool{self._n}d")
        return pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest element of windows at random distances, of (N, C, H, W)."""

    _n = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest element of windows at random distances, of (N, C, D, H, W)."""

    _n = 3

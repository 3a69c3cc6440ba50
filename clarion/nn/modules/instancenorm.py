"""Instance normalization."""

from __future__ import annotations

import warnings
from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from .batchnorm import _expect, _LazyNorm, _NormBase


class _InstanceNorm(_NormBase):
    _unbatched = 0  # dimensions of an input without a batch

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Any) -> None:
        _expect(input, self._unbatched, self._unbatched + 1)

    def _get_no_batch_dim(self) -> int:
        return self._unbatched

    def forward(self, input: Any) -> Any:
        """The normalized input: each image by its own statistics."""
        self._check_input_dim(input)
        dim = input.dim() - self._unbatched
        have = input.size(dim)
        if have != self.num_features:
            if self.affine:
                raise ArgumentValueError(
                    f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {have}."
                )
            warnings.warn(
                f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False",
                UserWarning,
                stacklevel=2,
            )
        if dim == 0:
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _apply_instance_norm(self, input: Any) -> Any:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of each image of (N, C, L)."""

    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each image of (N, C, H, W)."""

    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each image of (N, C, D, H, W)."""

    _unbatched = 4


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """An `InstanceNorm1d` whose number of features is that of its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """An `InstanceNorm2d` whose number of features is that of its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """An `InstanceNorm3d` whose number of features is that of its first input."""

    cls_to_become = InstanceNorm3d

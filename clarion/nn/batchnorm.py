"""Batch, instance, group and local response normalization."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.dtypes import int64
from ..errors import ArgumentValueError, NotSupportedError
from ..ops.faces.api import FUNCTIONS
from . import functional as F
from . import init
from .linear import empty_parameter
from .module import Module

ones, zeros = FUNCTIONS["ones"], FUNCTIONS["zeros"]


class _NormBase(Module):
    """Weight, bias and running statistics of channels."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self.register_parameter("weight", empty_parameter(shape, dtype, device) if affine else None)
        self.register_parameter("bias", empty_parameter(shape, dtype, device) if affine and bias else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(shape, dtype=dtype, device=device) if tracked else None)
        self.register_buffer("running_var", ones(shape, dtype=dtype, device=device) if tracked else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batch seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, fresh statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Size and options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            seen = self.num_batches_tracked  # files of the first version do not have it
            state_dict[key] = zeros((), dtype=int64) if seen is None else seen
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        """The normalized input: by the batch's statistics in training, by the running ones otherwise."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        tracking = self.training and self.track_running_stats
        if tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the mean over all batches so far
                factor = 1.0 / float(self.num_batches_tracked)
        running = not self.training or self.track_running_stats
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        return F.batch_norm(
            input,
            self.running_mean if running else None,
            self.running_var if running else None,
            self.weight,
            self.bias,
            by_batch,
            factor,
            self.eps,
        )


def _expect(input: Any, *ndims: int) -> None:
    if input.dim() not in ndims:
        kinds = " or ".join(f"{n}D" for n in ndims)
        raise ArgumentValueError(f"expected {kinds} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Normalizes channels of (N, C) or (N, C, L) over the batch."""

    def _check_input_dim(self, input: Any) -> None:
        _expect(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalizes channels of (N, C, H, W) over the batch."""

    def _check_input_dim(self, input: Any) -> None:
        _expect(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalizes channels of (N, C, D, H, W) over the batch."""

    def _check_input_dim(self, input: Any) -> None:
        _expect(input, 5)


class SyncBatchNorm(_BatchNorm):
    """Statistics over several processes, which clarion does not have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedError(
            "SyncBatchNorm is not there: clarion trains in one process. BatchNorm1d, 2d or 3d computes the same in it."
        )

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Would replace the batch norms of a model."""
        return cls()


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


class GroupNorm(Module):
    """Normalizes groups of channels of each image."""

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.register_parameter("weight", empty_parameter((num_channels,), dtype, device) if affine else None)
        self.register_parameter("bias", empty_parameter((num_channels,), dtype, device) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        """The normalized input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Sizes and options."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """The input over a power of the mean square of neighbouring channels."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        """The normalized input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Size and constants."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

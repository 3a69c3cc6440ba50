"""Batch normalization, and what it shares with instance normalization."""

from __future__ import annotations

import sys
from typing import Any

from ...core import modes
from ...core.devices import HALVES
from ...core.dtypes import int64
from ...core.inplace import wrote
from ...core.tensor import Tensor
from ...errors import ArgumentValueError
from ...kernels.registry import raw
from ...ops.faces.api import FUNCTIONS
from .. import functional as F
from .. import init
from ..parameter import UninitializedBuffer, UninitializedParameter
from .lazy import LazyModuleMixin
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


def _count(seen: Any) -> None:
    """One batch more. (On a device an operation in place costs more than the adding.)"""
    if type(seen) is Tensor and modes.special == 0 and type(seen._array) in HALVES:
        raw.count_up(seen._array)
        wrote(seen)
    else:
        seen.add_(1)


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        """The normalized input: by the batch's statistics in training, by the running ones otherwise."""
        self._check_input_dim(input)
        training, momentum, tracked = self.training, self.momentum, self.track_running_stats
        factor = 0.0 if momentum is None else momentum
        mean, var, seen = self._running()
        if training and tracked and seen is not None:
            _count(seen)
            if momentum is None:  # the mean over all batches so far
                factor = 1.0 / float(seen)
        by_batch = training or (mean is None and var is None)
        if training and not tracked:
            mean = var = None
        params = self._parameters
        try:  # what is no longer a parameter (parametrized), and what the class answers for itself, takes the long way
            weight, bias = (self.weight, self.bias) if self._asks else (params["weight"], params["bias"])
        except KeyError:
            weight, bias = self.weight, self.bias
        return F.batch_norm(input, mean, var, weight, bias, by_batch, factor, self.eps)

    def _running(self) -> tuple[Any, Any, Any]:
        """Mean and variance, and how many batches were seen."""
        buffers = self._buffers
        if (
            not self._asks
            and "running_mean" in buffers
            and "running_var" in buffers
            and "num_batches_tracked" in buffers
        ):
            return buffers["running_mean"], buffers["running_var"], buffers["num_batches_tracked"]
        return self.running_mean, self.running_var, self.num_batches_tracked


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
    """Normalizes channels over the batches of all processes of a group: clarion's groups have one."""

    process_group: Any

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ArgumentValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ArgumentValueError("SyncBatchNorm number of input channels should be non-zero")
        processes = sys.modules.get("clarion.distributed")
        if self.training and input.device.type != "cuda" and processes is not None and processes.is_initialized():
            raise ArgumentValueError("SyncBatchNorm expected input tensor to be on GPU or XPU or privateuseone")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The model with its batch norms replaced; their parameters and statistics are taken over."""
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNorm(LazyModuleMixin):
    """What the lazy normalizations share."""

    num_features: int

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if self.affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if self.track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = FUNCTIONS["zeros"]((), dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """Fresh values, once there are shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any) -> None:
        """Shapes for this input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for each in (*self._parameters.values(), *self._buffers.values()):
                if isinstance(each, (UninitializedParameter, UninitializedBuffer)):
                    each.materialize((self.num_features,))
            self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A `BatchNorm1d` whose number of features is that of its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A `BatchNorm2d` whose number of features is that of its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A `BatchNorm3d` whose number of features is that of its first input."""

    cls_to_become = BatchNorm3d

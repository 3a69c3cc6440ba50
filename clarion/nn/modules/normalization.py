"""Layer, group, root-mean-square and local response normalization."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from ...ops.faces.api import FUNCTIONS
from .. import functional as F
from .. import init
from .linear import empty_parameter
from .module import Module


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(Module):
    """Zero mean and unit variance over the last dimensions, then weight and bias."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", empty_parameter(shape, dtype, device) if elementwise_affine else None)
        self.register_parameter("bias", empty_parameter(shape, dtype, device) if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        """The normalized input."""
        params = self._parameters
        try:  # what is no longer a parameter (parametrized), and what the class answers for itself, takes the long way
            weight, bias = (self.weight, self.bias) if self._asks else (params["weight"], params["bias"])
        except KeyError:
            weight, bias = self.weight, self.bias
        return F.layer_norm(input, self.normalized_shape, weight, bias, self.eps)

    def extra_repr(self) -> str:
        """Shape and options."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The input over its root mean square in the last dimensions, times weight."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.register_parameter(
            "weight", empty_parameter(self.normalized_shape, dtype, device) if elementwise_affine else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weight 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Any:
        """The normalized input."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Shape and options."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


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


class CrossMapLRN2d(LocalResponseNorm):
    """Local response normalization as Caffe's: the windows of later channels keep the first channel, as PyTorch's do."""

    def forward(self, input: Any) -> Any:
        """The normalized input."""
        if input.dim() != 4:
            raise ArgumentValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        reach, channel = int((self.size - 1) / 2 + 1), FUNCTIONS["arange"](input.size(1), device=input.device)
        window = ((channel[:, None] - channel).abs() < reach) | ((channel == 0) & (channel[:, None] >= reach))
        squares = FUNCTIONS["einsum"]("cd,ndhw->nchw", window.to(input.dtype), input * input)
        return input * (squares * (self.alpha / self.size) + self.k) ** -self.beta

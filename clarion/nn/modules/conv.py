"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ArgumentValueError, EngineError
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .linear import empty_parameter
from .module import Module

Sizes = tuple[int, ...]


def per_dimension(value: Any, n: int) -> Sizes:
    """One number per dimension."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _same_padding(kernel_size: Sizes, dilation: Sizes) -> list[int]:
    """What `F.pad` has to add so that the size stays: the last dimension first."""
    widths: list[int] = []
    for k, d in zip(reversed(kernel_size), reversed(dilation), strict=True):
        total = d * (k - 1)
        widths += [total // 2, total - total // 2]
    return widths


class _ConvNd(Module):
    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    ]  # fmt: skip
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes, padding: Any, dilation: Sizes,
        transposed: bool, output_padding: Sizes, groups: int, bias: bool, padding_mode: str, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _refuse(in_channels, out_channels, stride, padding, groups, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        if not isinstance(padding, str):
            self._reversed_padding_repeated_twice = [p for p in reversed(padding) for _ in range(2)]
        elif padding == "same":
            self._reversed_padding_repeated_twice = _same_padding(kernel_size, dilation)
        else:
            self._reversed_padding_repeated_twice = [0, 0] * len(kernel_size)
        channels = (in_channels, out_channels // groups) if transposed else (out_channels, in_channels // groups)
        self.weight = empty_parameter((*channels, *kernel_size), dtype, device)
        self.register_parameter("bias", empty_parameter((out_channels,), dtype, device) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values: uniform within 1 / sqrt(inputs of a window)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Sizes, and what differs from the defaults."""
        n = len(self.kernel_size)
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _refuse(in_channels: int, out_channels: int, stride: Sizes, padding: Any, groups: int, padding_mode: str) -> None:
    if groups <= 0:
        raise ArgumentValueError("groups must be a positive integer")
    if in_channels % groups:
        raise ArgumentValueError("in_channels must be divisible by groups")
    if out_channels % groups:
        raise ArgumentValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ArgumentValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ArgumentValueError("padding='same' is not supported for strided convolutions")
    if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
        raise ArgumentValueError(
            "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got "
            f"padding_mode='{padding_mode}'"
        )


class _Conv(_ConvNd):
    """What the three convolutions share; `_n` is their number of dimensions."""

    _n = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = self._n
        super().__init__(
            in_channels, out_channels, per_dimension(kernel_size, n), per_dimension(stride, n),
            padding if isinstance(padding, str) else per_dimension(padding, n), per_dimension(dilation, n),
            False, (0,) * n, groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        convolve = getattr(F, f"conv{self._n}d")
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(padded, weight, bias, self.stride, (0,) * self._n, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        """The convolution of the input."""
        params = self._parameters
        try:  # what is no longer a parameter (parametrized), and what the class answers for itself, takes the long way
            weight, bias = (self.weight, self.bias) if self._asks else (params["weight"], params["bias"])
        except KeyError:
            weight, bias = self.weight, self.bias
        return self._conv_forward(input, weight, bias)


class Conv1d(_Conv):
    """Convolution over one dimension: (N, C, L)."""

    _n = 1


class Conv2d(_Conv):
    """Convolution over two dimensions: (N, C, H, W)."""

    _n = 2


class Conv3d(_Conv):
    """Convolution over three dimensions: (N, C, D, H, W)."""

    _n = 3


class _ConvTransposeNd(_ConvNd):
    """What the three transposed convolutions share."""

    _n = 0

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ArgumentValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = self._n
        super().__init__(
            in_channels, out_channels, per_dimension(kernel_size, n), per_dimension(stride, n),
            per_dimension(padding, n), per_dimension(dilation, n), True, per_dimension(output_padding, n), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _output_padding(self, input: Any, output_size: Any) -> Sizes:
        """What has to be added at the end for a result of `output_size`."""
        if output_size is None:
            return self.output_padding
        n, ndim = self._n, input.dim()
        lead = 2 if ndim == n + 2 else 1
        wanted = output_size[lead:] if len(output_size) == lead + n else output_size
        if len(wanted) != n:
            raise ArgumentValueError(
                f"ConvTranspose{n}D: for {ndim}D input, output_size must have {n} or {lead + n} elements (got {len(wanted)})"
            )
        shape = input.shape[lead:]
        least = [
            (m - 1) * s - 2 * p + d * (k - 1) + 1
            for m, s, p, d, k in zip(shape, self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        ]
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)):
            raise ArgumentValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})"
            )
        return tuple(size - low for size, low in zip(wanted, least, strict=True))

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """The transposed convolution; `output_size` decides where several sizes are possible."""
        extra = self._output_padding(input, output_size)
        return getattr(F, f"conv_transpose{self._n}d")(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over one dimension: (N, C, L)."""

    _n = 1


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over two dimensions: (N, C, H, W)."""

    _n = 2


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over three dimensions: (N, C, D, H, W)."""

    _n = 3


class _LazyConv(LazyModuleMixin):
    """What the lazy convolutions share."""

    in_channels: int
    out_channels: int
    groups: int
    transposed: bool
    kernel_size: tuple[int, ...]
    weight: Any
    bias: Any
    _n: int

    def _make_lazy(self, out_channels: int, bias: bool, dtype: Any, device: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new values, once there are shapes."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Shapes for this input."""
        if not self.has_uninitialized_params():
            return
        n = self._n
        if input.dim() not in (n + 1, n + 2):
            raise EngineError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}"
            )
        self.in_channels = channels = input.shape[-n - 1]
        if channels % self.groups:
            raise ArgumentValueError("in_channels must be divisible by groups")
        outer, inner = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyForward(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._make_lazy(out_channels, bias, dtype, device)


class _LazyTransposed(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._make_lazy(out_channels, bias, dtype, device)


class LazyConv1d(_LazyForward, Conv1d):
    """A `Conv1d` whose number of input channels is that of its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """A `Conv2d` whose number of input channels is that of its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """A `Conv3d` whose number of input channels is that of its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """A `ConvTranspose1d` whose number of input channels is that of its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """A `ConvTranspose2d` whose number of input channels is that of its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """A `ConvTranspose3d` whose number of input channels is that of its first input."""

    cls_to_become = ConvTranspose3d

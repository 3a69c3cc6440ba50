"""Pooling layers."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from .conv import per_dimension
from .module import Module


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    _n = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        """The largest element of each window."""
        return getattr(F, f"max_pool{self._n}d")(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        """Windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of windows of (N, C, L)."""

    _n = 1


class MaxPool2d(_MaxPoolNd):
    """The largest element of windows of (N, C, H, W)."""

    _n = 2


class MaxPool3d(_MaxPoolNd):
    """The largest element of windows of (N, C, D, H, W)."""

    _n = 3


class _MaxUnpoolNd(Module):
    _n = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = per_dimension(kernel_size, self._n)
        self.stride = per_dimension(stride if stride is not None else kernel_size, self._n)
        self.padding = per_dimension(padding, self._n)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Zeros, with each element at the place it had before pooling."""
        return getattr(F, f"max_unpool{self._n}d")(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Undoes MaxPool1d, with zeros for what was lost."""

    _n = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """Undoes MaxPool2d, with zeros for what was lost."""

    _n = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """Undoes MaxPool3d, with zeros for what was lost."""

    _n = 3


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]
    _n = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        """The mean of each window."""
        return getattr(F, f"avg_pool{self._n}d")(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of windows of (N, C, L)."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(
            per_dimension(kernel_size, 1), per_dimension(stride, 1), per_dimension(padding, 1), ceil_mode,
            count_include_pad,
        )  # fmt: skip
        del self.divisor_override

    def forward(self, input: Any) -> Any:
        """The mean of each window."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """The mean of windows of (N, C, H, W)."""

    _n = 2


class AvgPool3d(_AvgPoolNd):
    """The mean of windows of (N, C, D, H, W)."""

    _n = 3


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    _n = 0

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        """The p-norm of each window."""
        return getattr(F, f"lp_pool{self._n}d")(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        """Norm and windows."""
        return f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, ceil_mode={self.ceil_mode}"


class LPPool1d(_LPPoolNd):
    """The p-norm of windows of (N, C, L)."""

    _n = 1


class LPPool2d(_LPPoolNd):
    """The p-norm of windows of (N, C, H, W)."""

    _n = 2


class LPPool3d(_LPPoolNd):
    """The p-norm of windows of (N, C, D, H, W)."""

    _n = 3


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    _n = 0

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        """The largest element of each window."""
        return getattr(F, f"adaptive_max_pool{self._n}d")(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """Size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest element of windows that divide (N, C, L)."""

    _n = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest element of windows that divide (N, C, H, W)."""

    _n = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest element of windows that divide (N, C, D, H, W)."""

    _n = 3


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    _n = 0

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        """The mean of each window."""
        return getattr(F, f"adaptive_avg_pool{self._n}d")(input, self.output_size)

    def extra_repr(self) -> str:
        """Size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of windows that divide (N, C, L)."""

    _n = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of windows that divide (N, C, H, W)."""

    _n = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of windows that divide (N, C, D, H, W)."""

    _n = 3


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

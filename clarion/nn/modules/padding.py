"""Padding layers."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from .conv import per_dimension
from .module import Module


class _PadNd(Module):
    """Pads the last `_n` dimensions as `_mode` says."""

    __constants__ = ["padding"]
    _n = 0
    _mode = ""

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = per_dimension(padding, 2 * self._n)

    def forward(self, input: Any) -> Any:
        """The padded input."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """Widths."""
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    _mode = "reflect"


class _ReplicationPadNd(_PadNd):
    _mode = "replicate"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def forward(self, input: Any) -> Any:
        """The padded input."""
        n = self._n
        if input.dim() not in (n + 1, n + 2):
            raise ArgumentValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        """The padded input."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """Widths and value."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        """Widths."""
        return f"{self.padding}"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads the last dimension with its own mirror image."""

    _n = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads the last two dimensions with its own mirror image."""

    _n = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads the last three dimensions with its own mirror image."""

    _n = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Pads the last dimension with copies of its edge."""

    _n = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads the last two dimensions with copies of its edge."""

    _n = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads the last three dimensions with copies of its edge."""

    _n = 3


class CircularPad1d(_CircularPadNd):
    """Pads the last dimension with its other end."""

    _n = 1


class CircularPad2d(_CircularPadNd):
    """Pads the last two dimensions with its other end."""

    _n = 2


class CircularPad3d(_CircularPadNd):
    """Pads the last three dimensions with its other end."""

    _n = 3


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a constant."""

    _n = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a constant."""

    _n = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dimensions with a constant."""

    _n = 3


class ZeroPad1d(_ZeroPadNd):
    """Pads the last dimension with zeros."""

    _n = 1


class ZeroPad2d(_ZeroPadNd):
    """Pads the last two dimensions with zeros."""

    _n = 2


class ZeroPad3d(_ZeroPadNd):
    """Pads the last three dimensions with zeros."""

    _n = 3

"""Dropout layers: they act in training mode only."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module


class _DropoutNd(Module):
    __constants__ = ["p", "inplace"]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes elements."""

    def forward(self, input: Any) -> Any:
        """Dropout of single elements."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Zeroes whole channels of (batch, channel, length)."""

    def forward(self, input: Any) -> Any:
        """Dropout of channels."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Zeroes whole channels of (batch, channel, height, width)."""

    def forward(self, input: Any) -> Any:
        """Dropout of channels."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Zeroes whole channels of (batch, channel, depth, height, width)."""

    def forward(self, input: Any) -> Any:
        """Dropout of channels."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that goes with SELU."""

    def forward(self, input: Any) -> Any:
        """Dropout to SELU's lower end."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Any) -> Any:
        """Dropout of channels to SELU's lower end."""
        return F.feature_alpha_dropout(input, self.p, self.training)

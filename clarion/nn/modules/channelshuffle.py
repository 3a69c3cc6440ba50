"""Channels in another order."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from .module import Module


class ChannelShuffle(Module):
    """Channels dealt out in turn to groups."""

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """The channels in another order."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Groups."""
        return f"groups={self.groups}"

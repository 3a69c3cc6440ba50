"""`torch.fx.passes`: work on graphs."""

from __future__ import annotations

from ...absent import rest

__getattr__ = rest(__name__)

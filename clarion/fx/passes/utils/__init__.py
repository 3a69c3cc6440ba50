"""`torch.fx.passes.utils`."""

from __future__ import annotations

from ....absent import rest

__getattr__ = rest(__name__)

"""`torch.backends.miopen`: AMD's library of layers, which is not here."""

from __future__ import annotations

from ..absent import rest
from .switches import switches

immediate = False
set_flags, flags = switches(__name__, immediate=False)
__getattr__ = rest(__name__)

"""`torch.backends.kleidiai`: Arm's library of matrix products, which is not here."""

from __future__ import annotations

from ..absent import rest
from .switches import no

is_available = no
__getattr__ = rest(__name__)

"""`torch.backends.openmp`: threads of compiled libraries; clarion's are its own."""

from __future__ import annotations

from ..absent import rest
from .switches import no

is_available = no
__getattr__ = rest(__name__)

"""`torch.backends.mkl`: Intel's library of matrix products, which clarion does not load."""

from __future__ import annotations

from ..absent import rest
from .switches import no

is_available = no
__getattr__ = rest(__name__)

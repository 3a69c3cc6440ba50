"""`torch.backends.nnpack`: a library of convolutions, which is not here."""

from __future__ import annotations

from ..absent import rest
from .switches import no, switches

enabled = True
set_flags, flags = switches(__name__, enabled=False)
is_available = no
__getattr__ = rest(__name__)

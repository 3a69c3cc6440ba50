"""`torch.backends.cusparselt`: NVIDIA's library of structured sparsity, which is not here."""

from __future__ import annotations

from ..absent import rest
from .switches import no

is_available = no


def version() -> None:
    """There is no version of what is not there."""


__getattr__ = rest(__name__)

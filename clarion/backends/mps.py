"""`torch.backends.mps`: Apple's GPUs, on which clarion does not compute."""

from __future__ import annotations

from ..absent import rest
from ..errors import EngineError
from .switches import no

is_available = is_built = no


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Refused, as by PyTorch on other machines."""
    raise EngineError("Cannot execute isOnMacOSorNewer() without MPS backend.")


__getattr__ = rest(__name__)

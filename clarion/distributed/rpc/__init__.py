"""`torch.distributed.rpc`: calls to other processes. There are none; marks on functions mean nothing."""

from __future__ import annotations

from ...absent import rest
from . import api as api


def is_available() -> bool:
    """Can other processes be called? No."""
    return False


__getattr__ = rest(__name__)

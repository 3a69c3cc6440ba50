"""`torch.distributed`: a group of one process. Programs written for several run alone; more than one is refused."""

from __future__ import annotations

from ..absent import refusing_class, rest
from . import distributed_c10d as distributed_c10d
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import _get_default_group as _get_default_group
from .distributed_c10d import _rank_not_in_group as _rank_not_in_group


def is_available() -> bool:
    """Can programs make a group of processes? Yes, of one."""
    return True


TCPStore, FileStore, HashStore, GradBucket = (
    refusing_class(f"torch.distributed.{name}") for name in ("TCPStore", "FileStore", "HashStore", "GradBucket")
)

__getattr__ = rest(__name__)

"""`torch.distributed`: a group of one process. Programs written for several run alone; more than one is refused."""

from __future__ import annotations

import importlib
from typing import Any

from ..absent import refusing_class, rest
from . import distributed_c10d as distributed_c10d
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import _get_default_group as _get_default_group
from .distributed_c10d import _rank_not_in_group as _rank_not_in_group
from .stores import DistBackendError as DistBackendError
from .stores import DistError as DistError
from .stores import DistNetworkError as DistNetworkError
from .stores import DistStoreError as DistStoreError
from .stores import HashStore as HashStore
from .stores import PrefixStore as PrefixStore
from .stores import QueueEmptyError as QueueEmptyError
from .stores import Store as Store


def is_available() -> bool:
    """Can programs make a group of processes? Yes, of one."""
    return True


GradBucket = refusing_class("torch.distributed.GradBucket")
_rest = rest(__name__)
_FILES = {"FileStore": "file_store", "TCPStore": "tcp_store"}  # imported when they are first asked for


def __getattr__(name: str) -> Any:
    if name in _FILES:
        found = globals()[name] = getattr(importlib.import_module(f".{_FILES[name]}", __name__), name)
        return found
    return _rest(name)

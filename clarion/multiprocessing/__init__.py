"""`torch.multiprocessing`: Python's own, where tensors travel as shared memory."""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403
from typing import Any

from .reductions import init_reductions as init_reductions
from .spawn import ENV_VAR_PARALLEL_START as ENV_VAR_PARALLEL_START
from .spawn import ProcessContext as ProcessContext
from .spawn import ProcessExitedException as ProcessExitedException
from .spawn import ProcessRaisedException as ProcessRaisedException
from .spawn import SpawnContext as SpawnContext
from .spawn import spawn as spawn
from .spawn import start_processes as start_processes

_sharing_strategy = "file_descriptor"


def set_sharing_strategy(new_strategy: str) -> None:
    """How memory is shared: by file descriptors; PyTorch's other way (`file_system`) is taken as a wish and is the same here."""
    global _sharing_strategy
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"sharing strategy {new_strategy!r} is not one of {get_all_sharing_strategies()}")
    _sharing_strategy = new_strategy


def get_sharing_strategy() -> str:
    """What was set."""
    return _sharing_strategy


def get_all_sharing_strategies() -> set[str]:
    """The names that can be set."""
    return {"file_descriptor", "file_system"}


init_reductions()


def __getattr__(name: str) -> Any:
    return getattr(multiprocessing, name)

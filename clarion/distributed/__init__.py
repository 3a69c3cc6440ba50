"""`torch.distributed`: not there, and it says so. Programs ask (`is_available()`), and go on alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Enum
from typing import Any, NoReturn

from ..errors import ArgumentValueError, NotSupportedError

_WHY = "training runs in one process; ask torch.distributed.is_available() first, or start one process and leave it out"


def is_available() -> bool:
    """Can processes train together? No."""
    return False


def is_initialized() -> bool:
    """Is there a group of processes? No."""
    return False


def is_torchelastic_launched() -> bool:
    """Was the program started by torchrun?"""
    return "TORCHELASTIC_RUN_ID" in os.environ


def _no() -> bool:
    """Is this way of communicating there? No."""
    return False


is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_xccl_available = _no


class ReduceOp(Enum):
    """How values of several processes would be put together."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


class ProcessGroup:
    """A group of processes: a name for annotations, there is none."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedError(f"clarion does not have torch.distributed.ProcessGroup: {_WHY}")


class group:
    """The group of all processes: there is none."""

    WORLD = None


def _of_a_group(name: str) -> Callable[..., NoReturn]:
    """A question or a wish to a group: PyTorch refuses it, too, as long as there is none."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentValueError(
            f"Default process group has not been initialized, please make sure to call init_process_group.\n"
            f"torch.distributed.{name}: clarion has no groups of processes: {_WHY}"
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Refused: there is no group of processes."
    return function


get_rank, get_world_size, get_backend, barrier, destroy_process_group = map(
    _of_a_group, ("get_rank", "get_world_size", "get_backend", "barrier", "destroy_process_group")
)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotSupportedError(f"clarion does not have torch.distributed.{name}: {_WHY}")

    function.__name__ = function.__qualname__ = name
    return function

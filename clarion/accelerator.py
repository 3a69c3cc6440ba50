"""`torch.accelerator`, for programs that ask: there is none, and what needs one says so."""

from __future__ import annotations

from typing import Any

from .errors import EngineError


def is_available() -> bool:
    """Is there an accelerator? No."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """The accelerator: none."""
    return


def _needs_one(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise EngineError(
            "Cannot access accelerator device when none is available.\n"
            f"torch.accelerator.{name}(): clarion computes on the CPU; ask torch.accelerator.is_available() first."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Refused: there is no accelerator."
    return function


for _name in (
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_index",
    "empty_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
):
    globals()[_name] = _needs_one(_name)


class Stream:
    """A queue of work on an accelerator. There is none: it can be named and asked for, not made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise EngineError(f"{type(self).__name__}: there is no accelerator; clarion computes on the CPU, in order")


class Event(Stream):
    """A mark in such a queue."""

"""`torch.cuda.nvtx`: names for stretches of a program that NVIDIA's profilers show."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator
from typing import Any

from ..core.devices import is_available
from ..errors import EngineError

__all__ = ["mark", "range", "range_pop", "range_push"]


class _Open(threading.local):
    """How many ranges of this thread are open."""

    count = 0


_open = _Open()


def _nvtx() -> Any:
    if not is_available("cuda"):
        raise EngineError("NVTX functions not installed. Are you sure you have a CUDA build?")
    return importlib.import_module("cupy.cuda.nvtx")


def range_push(msg: str) -> int:
    """Open a range; its depth, from zero."""
    _nvtx().RangePush(msg)
    _open.count += 1
    return _open.count - 1


def range_pop() -> int:
    """Close the range opened last; its depth."""
    _nvtx().RangePop()
    _open.count -= 1
    return _open.count


def mark(msg: str) -> None:
    """Name a moment."""
    _nvtx().Mark(msg)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range for the time of a block, or of a function that this decorates."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()

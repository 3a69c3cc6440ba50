"""Is work being noted down, to be replayed later (a captured graph on a GPU)? Whoever has something to do before each replay says so.

Nothing here knows of a device: `kernels/cuda/capture.py` opens captures, optimizers tell what changes from step to step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class _Open(threading.local):
    capture: Any = None


_open = _Open()


def current() -> Any:
    """The capture that is open in this thread, or None."""
    return _open.capture


def set_current(capture: Any) -> None:
    """Open a capture in this thread, or close it (None)."""
    _open.capture = capture


def before_replay(again: Callable[[], None]) -> None:
    """Have something done before each replay of the capture that is open."""
    _open.capture.refresh.append(again)

"""`torch.profiler.itt`: ranges for Intel's VTune. There is nothing here that would hear them; they cost nothing and say so (`is_available`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def is_available() -> bool:
    """Would anybody hear them?"""
    return False


def range_push(msg: str) -> None:
    """Begin a range."""


def range_pop() -> None:
    """End the innermost range."""


def mark(msg: str) -> None:
    """Something happens now."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A range around a block; its name is formatted with the other arguments."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()

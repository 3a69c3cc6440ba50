"""`torch.mps`, for programs that ask: there is no such device."""

from __future__ import annotations

from typing import NoReturn

from .errors import EngineError


def is_available() -> bool:
    """Is there an Apple device? No."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds its generator: there is none."""


def _refuse(what: str) -> NoReturn:
    raise EngineError(
        f"Cannot execute {what}() without MPS backend.\nclarion computes on the CPU; ask torch.backends.mps.is_available() first."
    )


def empty_cache() -> NoReturn:
    """Refused: there is no memory to give back."""
    _refuse("emptyCache")


def synchronize() -> NoReturn:
    """Refused: there is nothing to wait for."""
    _refuse("deviceSynchronize")


def current_allocated_memory() -> NoReturn:
    """Refused: there is no memory."""
    _refuse("getCurrentAllocatedMemory")

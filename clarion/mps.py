"""`torch.mps`, for programs that ask: there is no such device."""

from __future__ import annotations

from typing import NoReturn

from .core import devices
from .errors import EngineError


def is_available() -> bool:
    """Is there an Apple device?"""
    return devices.is_available("mps")


def device_count() -> int:
    """How many there are."""
    return devices.kind_named("mps").count()


def manual_seed(seed: int) -> None:
    """Seeds its generator: there is none."""


def _refuse(what: str) -> NoReturn:
    raise EngineError(f"Cannot execute {what}() without MPS backend.\n{devices.kind_named('mps').missing()}")


def empty_cache() -> NoReturn:
    """Refused: there is no memory to give back."""
    _refuse("emptyCache")


def synchronize() -> NoReturn:
    """Refused: there is nothing to wait for."""
    _refuse("deviceSynchronize")


def current_allocated_memory() -> NoReturn:
    """Refused: there is no memory."""
    _refuse("getCurrentAllocatedMemory")


def driver_allocated_memory() -> NoReturn:
    """Refused: there is no memory."""
    _refuse("getDriverAllocatedMemory")


def recommended_max_memory() -> NoReturn:
    """Refused: there is no memory."""
    _refuse("getRecommendedMaxMemory")


def get_rng_state() -> NoReturn:
    """Refused: there is no generator."""
    _refuse("getDefaultGenerator")


seed = get_rng_state

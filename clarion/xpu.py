"""`torch.xpu`, for programs that ask: there is no such device, and the door (`core/devices.py`) says so."""

from __future__ import annotations

from typing import Any, NoReturn

from .core import devices
from .errors import NoDeviceError

__path__: list[str] = []  # PyTorch has modules below it (see elsewhere.py)


def is_available() -> bool:
    """Is there an Intel device?"""
    return devices.is_available("xpu")


is_initialized = is_available


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Can such a device compute in bfloat16?"""
    return is_available()


def device_count() -> int:
    """How many there are."""
    return devices.kind_named("xpu").count()


def manual_seed(seed: int) -> None:
    """Seeds the generators of all of them: none."""


manual_seed_all = manual_seed


def seed() -> None:
    """Seeds the generators of all of them from the operating system: none."""


seed_all = seed


def empty_cache() -> None:
    """Gives unused memory back: there is none."""


def memory_allocated(device: Any = None) -> int:
    """Bytes of device memory in use."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def synchronize(device: Any = None) -> NoReturn:
    """Refused: there is none to wait for."""
    raise NoDeviceError(devices.kind_named("xpu").missing())


current_device = get_device_name = get_device_properties = get_device_capability = current_stream = synchronize
set_device = mem_get_info = init = get_rng_state = set_rng_state = initial_seed = synchronize

"""`torch.xpu`, for programs that ask: there is no such device."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import Explained


class NoXpuError(Explained, AssertionError):
    """An Intel device was asked for, and there is none."""


def is_available() -> bool:
    """Is there an Intel device? No."""
    return False


def device_count() -> int:
    """How many there are."""
    return 0


def manual_seed(seed: int) -> None:
    """Seeds the generators of all of them: none."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Gives unused memory back: there is none."""


def synchronize(device: Any = None) -> NoReturn:
    """Refused: there is none to wait for."""
    raise NoXpuError(
        "Torch not compiled with XPU enabled\nclarion computes on the CPU; ask torch.xpu.is_available() first."
    )


current_device = get_device_name = synchronize

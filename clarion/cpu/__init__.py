"""`torch.cpu`: the one device there is."""

from __future__ import annotations

from typing import Any

from . import amp as amp


def is_available() -> bool:
    """Is there a CPU? Yes."""
    return True


def device_count() -> int:
    """Number of CPU devices: they count as one."""
    return 1


def current_device() -> str:
    """The name of the device."""
    return "cpu"


def synchronize(device: Any = None) -> None:
    """Waits for nothing: operations are done when they return."""

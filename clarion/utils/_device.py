"""`torch.utils._device`: where new tensors are made, for the time of a block or a call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.devices import device as DeviceContext

__all__ = ["DeviceContext", "device_decorator", "set_device"]


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function with all its new tensors on a device."""

    @functools.wraps(func)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with DeviceContext(device):
            return func(*args, **kwargs)

    return inside


def set_device(device: Any) -> Callable[..., Any]:
    """A decorator: new tensors of the function are made on a device."""
    return functools.partial(device_decorator, DeviceContext(device))

"""The switches of autocast, by PyTorch's names (`torch.is_autocast_enabled`, …). Each thread has its own."""

from __future__ import annotations

import threading
from typing import Any

from ..core import devices
from ..core.dtypes import dtype
from ..errors import ArgumentTypeError, EngineError
from ..forks import fork_safe
from ..kernels.narrow import narrow
from . import standins
from .state import DEVICES, state

_lock = fork_safe(threading.Lock())
_threads_on = 0
CASTING = ("cpu", "cuda")  # the devices that clarion computes on


def known_device(device_type: Any) -> str:
    """The name of a kind of device that autocast knows."""
    if not isinstance(device_type, str):
        raise ArgumentTypeError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type in DEVICES:
        return device_type
    kind = devices.device(device_type).type  # refuses what is no device at all
    if kind not in DEVICES:
        raise EngineError(f"User specified an unsupported autocast device_type '{device_type}'")
    return kind


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """set_autocast_enabled(device_type, enabled); with one argument, for CUDA."""
    global _threads_on
    device, value = ("cuda", bool(device_type)) if enabled is None else (known_device(device_type), bool(enabled))
    before = state.enabled[device]
    state.enabled[device] = value
    if device == "cuda":
        narrow.kind = state.dtype[device].numpy if value else None
    if device not in CASTING or before == value:
        return
    state.casting = any(state.enabled[each] for each in CASTING)
    with _lock:  # the stand-ins are there while autocast is on in any thread
        _threads_on += 1 if value else -1
        if value and _threads_on == 1:
            standins.install()
        elif not value and _threads_on == 0:
            standins.rest()


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Is autocast on for a kind of device (CUDA if none is named)?"""
    return state.enabled["cuda" if device_type is None else known_device(device_type)]


def get_autocast_dtype(device_type: str) -> dtype:
    """The lower precision of a kind of device."""
    return state.dtype[known_device(device_type)]


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Set the lower precision of a kind of device."""
    state.dtype[known_device(device_type)] = dtype
    if device_type == "cuda" and state.enabled["cuda"]:
        narrow.kind = dtype.numpy


def is_autocast_cpu_enabled() -> bool:
    """The older spelling of is_autocast_enabled("cpu")."""
    return state.enabled["cpu"]


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The older spelling of set_autocast_enabled("cpu", enabled)."""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """The older spelling of get_autocast_dtype("cpu")."""
    return state.dtype["cpu"]


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """The older spelling of set_autocast_dtype("cpu", dtype)."""
    state.dtype["cpu"] = dtype


def get_autocast_gpu_dtype() -> dtype:
    """The older spelling of get_autocast_dtype("cuda")."""
    return state.dtype["cuda"]


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """The older spelling of set_autocast_dtype("cuda", dtype)."""
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled() -> bool:
    """Are casts of weights remembered?"""
    return state.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Whether casts of weights are remembered until the outermost region ends."""
    state.cache_enabled = enabled


def clear_autocast_cache() -> None:
    """Forget the casts of weights."""
    state.weights.forget()


def autocast_increment_nesting() -> int:
    """One region deeper."""
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """One region less deep."""
    state.nesting -= 1
    return state.nesting

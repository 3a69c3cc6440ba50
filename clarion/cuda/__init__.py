"""`torch.cuda`. The device itself is asked for at the door (`core/devices.py`): while there is none, what needs one says so."""

from __future__ import annotations

import importlib
import os
from collections import OrderedDict
from typing import Any, NoReturn

from ..absent import knows
from ..core import devices
from ..errors import ArgumentTypeError, EngineError, NoDeviceError
from ..errors import OutOfMemoryError as OutOfMemoryError
from . import amp as amp


def is_available() -> bool:
    """Is there a CUDA device?"""
    return devices.is_available("cuda")


def is_initialized() -> bool:
    """Has a CUDA device been used?"""
    return is_available()


def is_tf32_supported() -> bool:
    """Do products of float32 take the short way of Ampere and later?"""
    if not is_available():
        return False
    from .present import get_device_properties

    return bool(get_device_properties().major >= 8)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Can a CUDA device compute in bfloat16?"""
    return is_available()


def device_count() -> int:
    """Number of CUDA devices."""
    return devices.kind_named("cuda").count()


def manual_seed(seed: int) -> None:
    """Seeds the generators of all CUDA devices: as many as there are."""
    devices.kind_named("cuda").manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all CUDA devices: as many as there are."""
    manual_seed(seed)


def seed() -> None:
    """Seeds the generator of the CUDA device from the operating system, if there is one."""
    if is_available():
        manual_seed(int.from_bytes(os.urandom(7), "little"))


def seed_all() -> None:
    """Seeds the generators of all CUDA devices from the operating system."""
    seed()


def empty_cache() -> None:
    """Gives unused device memory back, if there is any."""
    if is_available():
        from .present import empty_cache

        empty_cache()


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """What is known of device memory; empty without a device."""
    return OrderedDict(devices.kind_named("cuda").memory_stats())


def memory_allocated(device: Any = None) -> int:
    """Bytes of device memory in use."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Most bytes of device memory ever in use."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Bytes of device memory held."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Any = None) -> int:
    """Most bytes of device memory ever held."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all CUDA devices."""
    return [__getattr__("get_rng_state")(i) for i in range(device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of the generators of all CUDA devices: one for each."""
    for i, state in enumerate(new_states):
        __getattr__("set_rng_state")(state, i)


def get_arch_list() -> list[str]:
    """The architectures that kernels were compiled for: that of the device which is there."""
    if not is_available():
        return []
    major, minor = __getattr__("get_device_capability")()
    return [f"sm_{major}{minor}"]


def _refuse(name: str) -> NoReturn:
    why = devices.kind_named("cuda").missing()
    if name in _RUNTIME_ERRORS:
        raise EngineError(f"{_RUNTIME_ERRORS[name]}\n{why}")
    phrase, _, reason = why.partition("\n")
    if name.endswith("Tensor"):
        raise ArgumentTypeError(f"type torch.cuda.{name} not available. {phrase}.\n{reason}")
    raise NoDeviceError(f"{phrase}\ntorch.cuda.{name} needs a CUDA device. {reason}")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "nvtx":
        return importlib.import_module(".nvtx", __name__)
    if name == "_initialized":
        return is_initialized()
    if is_available():
        present = importlib.import_module(".present", __name__)  # (`from . import` would come here again)
        if hasattr(present, name):
            return getattr(present, name)
    elif name in _WITHOUT:
        return getattr(importlib.import_module(".without", __name__), name)
    if name in ("memory", "nccl", "random", "streams") and knows(f"torch.cuda.{name}"):
        return importlib.import_module(f".{name}", __name__)

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        _refuse(name)

    if name.endswith("Storage"):
        globals().update(importlib.import_module("..ops.creation.typed_storage", __name__).legacy_classes("torch.cuda"))
        if name in globals():
            return globals()[name]
    if name.endswith("Tensor") and name in _CLASSES and is_available():
        found = globals()[name] = importlib.import_module("..ops.creation.tensor_types", __name__).on_device(
            name, "cuda"
        )
        return found
    if name in _CLASSES:
        body = {"__new__": lambda cls, *args, **kwargs: _refuse(name), "__doc__": "Not there without a CUDA device."}
        found = type(name, (), {**body, "__module__": "torch.cuda"})
        globals()[name] = found
        return found
    if name in _NEEDS_DEVICE:
        refuse.__name__ = refuse.__qualname__ = name
        return refuse
    raise AttributeError(f"clarion does not have torch.cuda.{name} yet")


# Blocks, and what PyTorch keeps for later, need no device: see cuda/without.py.
_WITHOUT = frozenset(("device", "device_of", "StreamContext", "stream", "set_rng_state"))
# PyTorch refuses these with a RuntimeError, all others with an AssertionError.
_RUNTIME_ERRORS = {
    "Stream": "torch.cuda.Stream requires CUDA support",
    "Event": "Tried to instantiate dummy base class Event",
    "CUDAGraph": "Tried to instantiate dummy base class CUDAGraph",
    "is_current_stream_capturing": "Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing",
}
# Classes can be named, in annotations and for `isinstance`, without a device.
_CLASSES = frozenset(
    """
    Stream Event ExternalStream CUDAGraph CUDAPluggableAllocator MemPool
    BoolTensor ByteTensor CharTensor ShortTensor IntTensor LongTensor HalfTensor BFloat16Tensor FloatTensor DoubleTensor
    """.split()  # noqa: SIM905
)
default_generators: tuple[Any, ...] = ()
_NEEDS_DEVICE = frozenset(
    """
    synchronize current_device set_device get_device_name get_device_properties get_device_capability current_stream
    default_stream Stream Event initial_seed can_device_access_peer is_current_stream_capturing
    memory_summary mem_get_info reset_peak_memory_stats reset_max_memory_allocated init ipc_collect
    get_rng_state utilization CUDAGraph graph make_graphed_callables set_per_process_memory_fraction
    get_sync_debug_mode set_sync_debug_mode caching_allocator_alloc caching_allocator_delete memory_snapshot
    reset_accumulated_memory_stats get_allocator_backend
    """.split()  # noqa: SIM905
)

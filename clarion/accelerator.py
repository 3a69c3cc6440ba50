"""`torch.accelerator`: whatever kind of device computes beside the CPU. While there is none, what needs one says so."""

from __future__ import annotations

from typing import Any

from .core import devices
from .errors import EngineError
from .errors import OutOfMemoryError as OutOfMemoryError

__path__: list[str] = []  # PyTorch has modules below it (see elsewhere.py)


def is_available() -> bool:
    """Is there an accelerator?"""
    return any(devices.is_available(name) for name in devices.ACCELERATORS)


def device_count() -> int:
    """How many there are."""
    return devices.accelerator().count() if is_available() else 0


def current_accelerator(check_available: bool = False) -> devices.device | None:
    """The accelerator; None if there is none."""
    return devices.accelerator().device() if is_available() else None


_OTHER_NAMES = {
    "current_device_idx": "current_device",
    "current_device_index": "current_device",
    "set_device_idx": "set_device",
}
_OTHER_NAMES |= {"set_device_index": "set_device", "device_index": "device", "get_memory_info": "mem_get_info"}


def _needs_one(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        kind = devices.accelerator()  # refuses, while there is none
        return getattr(get_device_module(kind.name), _OTHER_NAMES.get(name, name))(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "What the module of the accelerator's kind does; refused, where there is none."
    return function


for _name in (
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_index",
    "empty_cache",
    "get_device_capability",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
):
    globals()[_name] = _needs_one(_name)


class AcceleratorError(EngineError):
    """An accelerator failed."""


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device: `torch.cpu`, `torch.cuda`."""
    import importlib

    kind = "cpu" if device is None else devices.device(device).type
    return importlib.import_module(f".{kind}", __package__)


class _Queue:
    """What `torch.Stream` and `torch.Event` share: the CPU's, which has nothing to wait for, or those of a GPU."""

    device: Any

    def __new__(cls, device: Any = None, **options: Any) -> Any:
        if isinstance(device, int):
            raise EngineError("Cannot access accelerator device when none is available.")
        where = devices.device("cpu" if device is None else device)
        if where.type != "cpu":
            import importlib

            return getattr(importlib.import_module(f".{where.type}", __package__), cls.__name__)(**options)
        made = super().__new__(cls)
        made.device = where
        return made

    device_type, device_index = 0, -1

    def query(self) -> bool:
        """Is all its work done? On the CPU it always is."""
        return True

    def synchronize(self) -> None:
        """Wait for its work."""

    def _no_events(self, *args: Any, **options: Any) -> Any:
        raise EngineError("cpu backend doesn't support events.")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        more = "stream_id=0" if type(self) is Stream else "event_flag=0, event_id=0"
        return f"torch.{type(self).__name__} device_type=cpu, device_index=-1, {more}"


class Stream(_Queue):
    """A queue of work on a device; the CPU has one, and works it off at once."""

    stream_id = 0
    record_event = wait_event = wait_stream = _Queue._no_events

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Event(_Queue):
    """A mark in such a queue."""

    event_id = 0
    record = wait = elapsed_time = _Queue._no_events

"""`torch.cpu`: the one device there is."""

from __future__ import annotations

from typing import Any

from . import amp as amp
from .capabilities import get_capabilities as get_capabilities


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


def is_initialized() -> bool:
    """Is it ready? Always."""
    return True


def set_device(device: Any) -> None:
    """Nothing: there is one."""


# For programs that are written for any device: operations are done when they return, so nothing is ever waited for.


class Stream:
    """A stream of the CPU."""

    def __init__(self, priority: int = -1) -> None: ...

    def wait_stream(self, stream: Any) -> None:
        """Nothing is waited for."""

    def record_event(self) -> None:
        """Nothing is waited for."""

    def wait_event(self, event: Any) -> None:
        """Nothing is waited for."""


class Event:
    """An event of a stream: it has always happened."""

    def query(self) -> bool:
        """Has it happened?"""
        return True

    def record(self, stream: Any = None) -> None:
        """Nothing is waited for."""

    def synchronize(self) -> None:
        """Nothing is waited for."""

    def wait(self, stream: Any = None) -> None:
        """Nothing is waited for."""


_current_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """The stream of the innermost `with stream(…)`."""
    return _current_stream


class StreamContext:
    """A block in which `stream` is the current one; None: nothing changes."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self.prev_stream = _current_stream

    def __enter__(self) -> None:
        global _current_stream
        if self.stream is not None:
            self.prev_stream, _current_stream = _current_stream, self.stream

    def __exit__(self, *_: object) -> None:
        global _current_stream
        if self.stream is not None:
            _current_stream = self.prev_stream


def stream(stream: Stream | None) -> StreamContext:
    """A block in which a stream is the current one."""
    return StreamContext(stream)

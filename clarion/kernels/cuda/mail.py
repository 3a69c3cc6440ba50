"""Numbers of the GPU that are read a step later (`clarion/mail.py`), as CuPy copies them."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ...mail import Post


class _Room:
    """Page-locked memory of the host for a result."""

    __slots__ = ("place", "values")

    def __init__(self, result: Any) -> None:
        memory = cupy.cuda.alloc_pinned_memory(result.nbytes)
        self.place: int = memory.ptr  # (to ask an array for it takes as long as to copy)
        self.values = np.frombuffer(memory, result.dtype, result.size)


def _room(result: Any) -> tuple[_Room, Any]:
    return _Room(result), cupy.cuda.Event(disable_timing=True)


def _copy(result: Any, room: _Room, event: Any) -> None:
    stream = cupy.cuda.get_current_stream()
    result.data.copy_to_host_async(room.place, result.nbytes, stream)
    event.record(stream)


class Letter:
    """One result on its way to the host; with `sizes`, several, one after the other."""

    def __init__(self, result: Any, sizes: list[int] | None = None) -> None:
        self._sizes = sizes
        self._room, self._event = _room(result)
        _copy(result, self._room, self._event)

    def read(self) -> list[Any]:
        """The values, or an array for each size; they have mostly arrived by now."""
        self._event.synchronize()
        if self._sizes is not None:
            return np.split(self._room.values, np.cumsum(self._sizes[:-1]))
        return self._room.values.tolist()  # type: ignore[no-any-return]


post = Post(_room, _copy, lambda event: event.done, lambda room: room.values.astype(float).tolist())

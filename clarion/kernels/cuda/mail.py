"""Numbers of the GPU that are read a step later (`clarion/mail.py`), as CuPy copies them."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ...mail import Post


def _room(result: Any) -> tuple[np.ndarray, Any]:
    memory = cupy.cuda.alloc_pinned_memory(result.nbytes)
    return np.frombuffer(memory, result.dtype, result.size), cupy.cuda.Event(disable_timing=True)


def _copy(result: Any, memory: np.ndarray, event: Any) -> None:
    stream = cupy.cuda.get_current_stream()
    result.data.copy_to_host_async(memory.ctypes.data, result.nbytes, stream)
    event.record(stream)


class Letter:
    """One result on its way to the host; with `sizes`, several, one after the other."""

    def __init__(self, result: Any, sizes: list[int] | None = None) -> None:
        self._sizes = sizes
        self._memory, self._event = _room(result)
        _copy(result, self._memory, self._event)

    def read(self) -> list[Any]:
        """The values, or an array for each size; they have mostly arrived by now."""
        self._event.synchronize()
        if self._sizes is not None:
            return np.split(self._memory, np.cumsum(self._sizes[:-1]))
        return self._memory.tolist()  # type: ignore[no-any-return]


post = Post(_room, _copy, lambda event: event.done, lambda memory: memory.astype(float).tolist())

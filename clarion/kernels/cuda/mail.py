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
    """One result on its way to the host."""

    def __init__(self, result: Any) -> None:
        self._memory, self._event = _room(result)
        _copy(result, self._memory, self._event)

    def read(self) -> list[Any]:
        """The values; they have mostly arrived by now."""
        self._event.synchronize()
        return self._memory.tolist()  # type: ignore[no-any-return]


post = Post(_room, _copy, lambda event: event.done, lambda memory: memory.astype(float).tolist())

"""Page-locked memory of the host: the GPU reads it by itself, while the program goes on."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from .. import captures

_under_way: list[tuple[Any, np.ndarray]] = []  # copies that may not have happened yet, and what they read


def pinned(values: np.ndarray) -> np.ndarray:
    """A copy in page-locked memory; the array itself if it lies there."""
    if is_pinned(values):
        return values
    memory = cupy.cuda.alloc_pinned_memory(max(values.nbytes, 1))
    made = np.frombuffer(memory, np.uint8, values.nbytes).view(values.dtype).reshape(values.shape)
    made[...] = values
    return made


def is_pinned(values: Any) -> bool:
    """Does an array lie in memory that `pinned` gave?"""
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values, memoryview) and isinstance(values.obj, cupy.cuda.PinnedMemoryPointer)


def sent(values: np.ndarray) -> Any:
    """A page-locked array on the GPU, not waited for; it is kept until the copy has happened."""
    _under_way[:] = [each for each in _under_way if not each[0].done]
    stream = cupy.cuda.get_current_stream()
    made = cupy.ndarray(values.shape, values.dtype)
    made.set(values, stream)
    event = cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    _under_way.append((event, values))
    return made


def can_be_sent(values: np.ndarray) -> bool:
    """Can it be copied without waiting?"""
    return bool(values.size and values.flags.c_contiguous and captures.current() is None and is_pinned(values))

"""Small arrays of the host are sent to the GPU, and nobody waits: they are written to page-locked memory, which the GPU reads by itself.

(A copy from ordinary memory waits until the GPU has done all that it was given before.)
"""

from __future__ import annotations

import threading
from typing import Any

import cupy
import numpy as np
from cupy.cuda import get_current_stream, runtime

LARGEST = 1 << 15  # bytes of a small array
_SLOTS = 64
_TO_GPU = runtime.memcpyHostToDevice


class _Slot:
    """Page-locked memory, and when the last copy from it is done."""

    def __init__(self) -> None:
        self.memory = cupy.cuda.alloc_pinned_memory(LARGEST)
        self.bytes = np.frombuffer(self.memory, np.uint8, LARGEST)
        self.event = cupy.cuda.Event(disable_timing=True)


_slots: list[_Slot] = []
_lock = threading.Lock()
_turn = 0


def can_be_sent(values: np.ndarray) -> bool:
    """Is it small, and does it lie as the GPU will have it?"""
    return 0 < values.nbytes <= LARGEST and values.flags.c_contiguous and values.dtype.isnative


def send(values: np.ndarray, place: int) -> None:
    """Copy an array to where it belongs on the GPU, after all work of the current stream so far."""
    global _turn
    with _lock:
        if len(_slots) < _SLOTS:
            _slots.append(_Slot())
        _turn = (_turn + 1) % len(_slots)
        slot = _slots[_turn]
        slot.event.synchronize()  # (it was used some sixty copies ago)
        size = values.nbytes
        slot.bytes[:size] = values.reshape(-1).view(np.uint8)
        stream = get_current_stream()
        runtime.memcpyAsync(place, slot.memory.ptr, size, _TO_GPU, stream.ptr)
        slot.event.record(stream)


def sent(values: np.ndarray) -> Any:
    """A small array on the GPU."""
    made = cupy.ndarray(values.shape, values.dtype)
    send(values, made.data.ptr)
    return made

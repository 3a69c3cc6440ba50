"""Where arrays of a native program lie: buffers, and views of them with known shapes and strides."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Buffer:
    """A piece of memory. `source` says whose it is: None for the program's own, else what the caller puts into the table."""

    __slots__ = ("number", "offset", "size", "source", "stored")
    _count = 0

    def __init__(self, size: int, source: Any = None) -> None:
        Buffer._count += 1
        self.number, self.size, self.source = Buffer._count, size, source
        self.offset = -1  # in the program's own memory
        self.stored = source is not None  # is it in memory at all, or in registers only?


class View(NamedTuple):
    """Part of a buffer: offset and strides in bytes."""

    buffer: Buffer
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def dense(self) -> bool:
        """Do its elements lie one after the other?"""
        step = self.dtype.itemsize
        for n, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n != 1 and stride != step:
                return False
            step *= n
        return True

    def spread(self, shape: tuple[int, ...]) -> View:
        """Broadcast to a shape."""
        missing = len(shape) - len(self.shape)
        strides = [0] * missing + [
            0 if n == 1 and m != 1 else s for n, s, m in zip(self.shape, self.strides, shape[missing:], strict=True)
        ]
        return View(self.buffer, self.offset, shape, tuple(strides), self.dtype)

    def reshaped(self, shape: tuple[int, ...]) -> View | None:
        """The same elements in another shape, where strides allow it."""
        strides = reshaped_strides(self.shape, self.strides, shape, self.dtype.itemsize)
        return None if strides is None else View(self.buffer, self.offset, shape, strides, self.dtype)


def dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides of elements that lie one after the other."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def reshaped_strides(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...], itemsize: int) -> Any:
    """Strides of another shape over the same memory; None where that needs a copy. (NumPy knows: it is asked without memory.)"""
    looks = np.lib.stride_tricks.as_strided(np.empty(1, np.dtype(f"V{itemsize}")), shape, strides)
    try:
        return looks.reshape(wanted, copy=False).strides
    except ValueError:
        return None


def plan(buffers: list[tuple[Buffer, int, int]]) -> int:
    """Give every buffer a place, from its first to its last use; gives how many bytes that takes. First fit, largest first."""
    placed: list[tuple[int, int, int, int]] = []  # begin, end, first, last
    total = 0
    for buffer, first, last in sorted(buffers, key=lambda each: -each[0].size):
        size = -(-max(buffer.size, 1) // 64) * 64 + 64  # vectors may be read a little beyond the end
        place = 0
        for begin, end, start, stop in sorted(placed):
            if start > last or stop < first:
                continue
            if place + size <= begin:
                break
            place = max(place, end)
        buffer.offset = place
        placed.append((place, place + size, first, last))
        total = max(total, place + size)
    return total

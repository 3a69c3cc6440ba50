"""Memory that belongs to captured graphs: pieces are cut from free ones and joined again.

What is lent while a graph is captured is lent at no cost in every replay, so here time does not matter and memory does: a request
takes the smallest free piece that it fits into, and the rest of that stays free. (The pool of everyday work never cuts: memory.py.)
"""

from __future__ import annotations

import sys
from bisect import bisect_left, insort
from typing import Any

import cupy
from cupy.cuda import memory as cupy_memory

from .. import captures
from .memory import NOTHING, SMALL, Block, Pool

_LARGE = 16 << 20  # requests from here on get memory of their own size from the driver
_SEGMENT = 20 << 20  # what is asked for at once for smaller ones; and for very small ones
_SMALL_SEGMENT = 2 << 20


class _Free:
    """The free pieces of one stream: work on one stream comes one after the other."""

    def __init__(self) -> None:
        self.by_size: list[tuple[int, int]] = []  # (size, place), the smallest first
        self.ends: dict[int, int] = {}  # where a piece ends -> where it begins
        self.sizes: dict[int, int] = {}  # where a piece begins -> its size

    def add(self, place: int, size: int) -> None:
        insort(self.by_size, (size, place))
        self.sizes[place], self.ends[place + size] = size, place

    def take(self, place: int) -> int:
        size = self.sizes.pop(place)
        del self.ends[place + size]
        del self.by_size[bisect_left(self.by_size, (size, place))]
        return size

    def smallest(self, size: int) -> int | None:
        """Where the smallest piece of at least this size begins."""
        at = bisect_left(self.by_size, (size, 0))
        return self.by_size[at][1] if at < len(self.by_size) else None


class _Shelf:
    """Takes back what one block had: see `Block.__del__`."""

    def __init__(self, pool: Arena, stream: int, size: int) -> None:
        self.pool, self.stream, self.size = pool, stream, size

    def append(self, place: int) -> None:
        self.pool.give_back(self.stream, place, self.size)


class Arena(Pool):
    """A pool for captured graphs."""

    def __init__(self) -> None:
        super().__init__()
        self._free: dict[int, _Free] = {}
        self._segments: dict[int, tuple[int, int]] = {}  # where one begins -> its size and stream

    def malloc(self, size: int) -> Any:
        """What CuPy calls for every new array."""
        if size == 0:
            return cupy_memory.MemoryPointer(NOTHING, 0)
        size = -(-size // SMALL) * SMALL
        stream = cupy.cuda.get_current_stream().ptr
        free = self._free.setdefault(stream, _Free())
        place = free.smallest(size)
        if place is None:
            whole = size if size >= _LARGE else _SEGMENT if size > _SMALL_SEGMENT // 2 else _SMALL_SEGMENT
            place = self._from_driver(whole)
            self._segments[place] = whole, stream
            free.add(place, whole)
        left = free.take(place) - size
        if left:
            free.add(place + size, left)
        self.count += 1
        self.used += size
        self.peak = max(self.peak, self.used)
        block = Block()
        block.ptr, block.size, block.device_id = place, size, cupy.cuda.runtime.getDevice()
        block.shelf = _Shelf(self, stream, size)
        return cupy_memory.MemoryPointer(block, 0)

    def __del__(self) -> None:
        """Nothing is in it any more: all goes back to the driver."""
        if not sys.is_finalizing() and captures.current() is None:
            segments, self._segments = (
                self._segments,
                {},
            )  # (blocks that go with it, in a cycle, may come back after this)
            for place in segments:
                cupy.cuda.runtime.free(place)

    def give_back(self, stream: int, place: int, size: int) -> None:
        """A piece is free: it is joined with its neighbours, if they are."""
        free = self._free[stream]
        if place + size in free.sizes and place + size not in self._segments:
            size += free.take(place + size)
        if place in free.ends and place not in self._segments:
            place = free.ends[place]
            size += free.take(place)
        if not self.graphs and self._segments.get(place) == (size, stream) and captures.current() is None:
            del self._segments[place]  # nobody replays in it any more
            cupy.cuda.runtime.free(place)
            self.held -= size
            return
        free.add(place, size)

    def release(self) -> None:
        """Give the segments that nothing is in back to the driver."""
        cupy.cuda.runtime.deviceSynchronize()
        for place, (size, stream) in list(self._segments.items()):
            if self._free[stream].sizes.get(place) == size:
                self._free[stream].take(place)
                del self._segments[place]
                cupy.cuda.runtime.free(place)
                self.held -= size

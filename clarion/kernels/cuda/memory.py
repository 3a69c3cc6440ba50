"""GPU memory: a pool that lends blocks again by their size, and keeps books as PyTorch's does.

A training step asks for the same sizes again and again, so a freed block waits for the next request of its size; what others have
left is given back to the driver only when memory runs out. Blocks are lent again at once, though the GPU may still be reading
them: work on one stream comes one after the other, so each stream has shelves of its own.

CuPy's own pool splits and joins blocks, knows no peak, and its memory cannot be set aside for a captured graph.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any

import cupy
from cupy.cuda import MemoryPointer, get_current_stream
from cupy.cuda import memory as cupy_memory

from ...errors import OutOfMemoryError

SMALL = 512  # sizes are rounded up to multiples of this,
LARGE = 16 << 20  # and above 4 KiB to eighths of a power of two, so that sizes that differ little share blocks,
WHOLE = 2 << 20  # but those above LARGE, which are few, to multiples of this


@lru_cache(maxsize=4096)
def rounded(size: int) -> int:
    """The size of the block that is lent for a request."""
    if size <= 8 * SMALL:
        return -(-size // SMALL) * SMALL
    unit = WHOLE if size > LARGE else 1 << max(9, (size - 1).bit_length() - 4)
    return -(-size // unit) * unit


class Block(cupy_memory.BaseMemory):  # type: ignore[misc]
    """Memory that goes back to its shelf when nobody holds it any more."""

    __slots__ = ("shelf",)

    def __del__(self) -> None:
        shelf = self.shelf
        shelf.pool.used -= self.size
        if type(shelf) is Shelf:
            heappush(shelf, self.ptr)
        else:
            shelf.append(self.ptr)


class Shelf(list[int]):
    """Where free blocks of one size begin, on one stream of a device.

    A heap: the first in memory is lent first. So a step that asks for what the last one asked for gets the same places, whatever the
    order in which they came back, and what was prepared for them (cudnn_graphs.py) is found again.
    """

    def __init__(self, pool: Pool, size: int) -> None:
        self.pool, self.size, self.device_id = pool, size, cupy.cuda.runtime.getDevice()


class Waiting:
    """Stands for the shelf of a block that other streams read, too: it is lent again when they have come past its end."""

    def __init__(self, shelf: Any) -> None:
        self.shelf, self.pool = shelf, shelf.pool
        self.streams: list[Any] = []

    def append(self, ptr: int) -> None:
        events = []
        for stream in self.streams:
            events.append(cupy.cuda.Event(disable_timing=True))
            events[-1].record(stream)
        self.pool.waiting.append((events, self.shelf, ptr))


def used_on(array: Any, stream: Any) -> None:
    """Another stream than that of its memory works with an array: nobody else gets the memory until it is done."""
    block = array.data.mem
    if isinstance(block, Block):
        if not isinstance(block.shelf, Waiting):
            block.shelf = Waiting(block.shelf)
        block.shelf.streams.append(stream)


class Pool:
    """Shelves of free blocks, by stream and size; and the books."""

    def __init__(self) -> None:
        self.shelves: dict[tuple[int, int], Shelf] = {}
        self._for: dict[tuple[int, int], Shelf] = {}  # by stream and by what was asked for
        self.used = self.peak = self.held = self.held_peak = self.count = 0
        self.waiting: list[tuple[list[Any], Any, int]] = []  # freed blocks that other streams may still read
        self.graphs = 0  # captured graphs that replay in this memory
        self.blocks = self.retries = self.failures = (
            0  # of the driver: given, asked for again after giving back, refused
        )
        self._lock = threading.Lock()

    def malloc(self, size: int) -> Any:
        """What CuPy calls for every new array."""
        key = (get_current_stream().ptr, size)
        shelf = self._for.get(key)
        if shelf is None:
            if size == 0:
                return MemoryPointer(NOTHING, 0)
            shelf = self._shelf(*key)
        size = shelf.size
        try:
            ptr = heappop(shelf)
        except IndexError:
            ptr = self._come_back(shelf) if self.waiting else self._from_driver(size)
        block = Block()
        block.shelf, block.ptr, block.size, block.device_id = shelf, ptr, size, shelf.device_id
        self.count += 1
        self.used = used = self.used + size
        if used > self.peak:
            self.peak = used
        return MemoryPointer(block, 0)

    def _shelf(self, stream: int, size: int) -> Shelf:
        key = (stream, rounded(size))
        if len(self._for) > 65536:
            self._for.clear()
        found = self._for[stream, size] = self.shelves.setdefault(key, Shelf(self, key[1]))
        return found

    def _come_back(self, wanted: Shelf) -> int:
        """Put what nobody reads any more back on its shelf; then a block of the one that is wanted."""
        waiting, self.waiting = self.waiting, []
        for events, shelf, ptr in waiting:
            if all(event.done for event in events):
                heappush(shelf, ptr)
            else:
                self.waiting.append((events, shelf, ptr))
        return heappop(wanted) if wanted else self._from_driver(wanted.size)

    def _from_driver(self, size: int) -> int:
        with self._lock:
            try:
                ptr = cupy.cuda.runtime.malloc(size)
            except cupy.cuda.runtime.CUDARuntimeError:
                self.release()
                self.retries += 1
                try:
                    ptr = cupy.cuda.runtime.malloc(size)
                except cupy.cuda.runtime.CUDARuntimeError as error:
                    self.failures += 1
                    raise self._too_much(size) from error
            self.held += size
            self.blocks += 1
            self.held_peak = max(self.held_peak, self.held)
            return int(ptr)

    def _too_much(self, size: int) -> OutOfMemoryError:
        free, total = cupy.cuda.runtime.memGetInfo()
        return OutOfMemoryError(
            f"CUDA out of memory. Tried to allocate {size / 2**20:.2f} MiB. GPU 0 has a total capacity of {total / 2**30:.2f} GiB "
            f"of which {free / 2**20:.2f} MiB is free; {self.used / 2**30:.2f} GiB are in use by tensors, "
            f"{(self.held - self.used) / 2**30:.2f} GiB are held for the next ones.\n"
            "Make the batch smaller, accumulate gradients over several, or recompute activations (torch.utils.checkpoint)."
        )

    def release(self) -> None:
        """Give everything that is not in use back to the driver."""
        cupy.cuda.runtime.deviceSynchronize()
        for (_, size), shelf in list(self.shelves.items()):
            while shelf:
                cupy.cuda.runtime.free(shelf.pop())
                self.held -= size
                self.blocks -= 1

    def snapshot(self) -> list[dict[str, Any]]:
        """The shelves: the size of their blocks, the stream that they are for, and how many lie on them."""
        found = [(stream, size, len(shelf)) for (stream, size), shelf in self.shelves.items()]
        return [
            {"stream": stream, "total_size": size * n, "block_size": size, "inactive": n} for stream, size, n in found
        ]

    def stats(self) -> dict[str, int]:
        """PyTorch's names for what the books say. What captured graphs keep to themselves is in use as long as they are."""
        apart = sum(each.held for each in _apart)
        unused = sum([len(shelf) for shelf in self.shelves.values()]) + len(self.waiting)
        return {
            "allocated_bytes.all.current": self.used + apart,
            "allocated_bytes.all.peak": self.peak + apart,
            "reserved_bytes.all.current": self.held + apart,
            "reserved_bytes.all.peak": self.held_peak + apart,
            "active_bytes.all.current": self.used + apart,
            "active_bytes.all.peak": self.peak + apart,
            "allocation.all.current": self.blocks - unused,
            "allocation.all.allocated": self.count,
            "allocation.all.freed": self.count - self.blocks + unused,
            "segment.all.current": self.blocks,
            "num_alloc_retries": self.retries,
            "num_ooms": self.failures,
        }

    def reset_peak(self) -> None:
        """Peaks begin anew from what is in use now."""
        self.peak, self.held_peak = self.used, self.held


class _Nothing(cupy_memory.BaseMemory):  # type: ignore[misc]
    """The memory of arrays without elements."""

    ptr, size, device_id = 0, 0, 0

    def __init__(self) -> None:
        self.device_id = cupy.cuda.runtime.getDevice()


NOTHING = _Nothing()
_apart: weakref.WeakSet[Pool] = weakref.WeakSet()  # the pools of captured graphs
pool = Pool()
cupy.cuda.set_allocator(pool.malloc)


@contextlib.contextmanager
def apart(other: Pool) -> Iterator[None]:
    """New arrays of this thread are made in another pool: a captured graph keeps its memory to itself."""
    _apart.add(other)
    with cupy.cuda.using_allocator(other.malloc):
        yield

"""Work on the GPU noted down once and replayed in one launch.

While a capture is open in a thread, kernels are not run but noted, new arrays come from a pool that belongs to the capture, and
whatever would wait for the GPU is refused. What the host must do anew before each replay (the numbers of an optimizer's step) is told
to `before_replay`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np

from .. import captures
from . import sending
from .arena import Arena
from .memory import SMALL, Pool, apart, pool

_streams = threading.local()


def _own_stream() -> Any:
    """The stream on which a thread captures: always the same, so that libraries keep scratch memory for one."""
    if not hasattr(_streams, "own"):
        _streams.own = cupy.cuda.Stream(non_blocking=True)
    return _streams.own


class Capture:
    """One captured piece of work."""

    def __init__(self, pool: Pool | None = None) -> None:
        self.pool = pool or Arena()
        self.pool.graphs += 1
        self.stream = _own_stream()
        self.graph: Any = None
        self.refresh: list[Callable[[], None]] = []
        self.held: list[Any] = []  # arrays that the graph reads and nobody else may hold
        self.drawn: dict[Any, Any] = {}  # by generator: what draws of the graph use of it
        self._contexts: list[Any] = []

    def draws_of(self, generator: Any) -> Any:
        """The book of the draws from a generator in this graph."""
        found = self.drawn.get(generator)
        if found is None:
            from .philox import Drawn

            found = self.drawn[generator] = Drawn(generator)
        return found

    def begin(self) -> None:
        """From now on, work of this thread is noted."""
        cupy.cuda.get_current_stream().synchronize()
        self._contexts = [self.stream, apart(self.pool)]
        for context in self._contexts:
            context.__enter__()
        captures.set_current(self)
        self.stream.begin_capture(cupy.cuda.runtime.streamCaptureModeRelaxed)

    def end(self) -> None:
        """What was noted becomes a graph."""
        try:
            self.graph = self.stream.end_capture()
        finally:
            self.close()
            for drawn in self.drawn.values():
                drawn.captured()

    def abandon(self) -> None:
        """Leave a capture that cannot be finished."""
        try:
            if self.stream.is_capturing():
                self.stream.end_capture()
        except cupy.cuda.runtime.CUDARuntimeError:
            pass  # the capture was invalid already: it is closed all the same
        finally:
            self.close()
            for drawn in self.drawn.values():
                drawn.captured()

    def close(self) -> None:
        """Work is done again when it is called for."""
        captures.set_current(None)
        for context in reversed(self._contexts):
            context.__exit__(None, None, None)
        self._contexts = []

    @staticmethod
    def memory(array: Any) -> Any:
        """What stands for the memory that an array lies in: the same for all its views."""
        return array.data.mem

    def made(self, array: Any) -> bool:
        """Was the memory of an array lent while this work was captured?"""
        shelf = getattr(array.data.mem, "shelf", None)
        return shelf is not None and shelf.pool is self.pool

    def replay(self, refresh: bool = True) -> None:
        """Launch the graph on the current stream."""
        for drawn in self.drawn.values():
            drawn.replayed(refresh)
        if refresh:
            for again in self.refresh:
                again()
        self.graph.launch(cupy.cuda.get_current_stream())

    def __del__(self) -> None:
        """The last graph of a pool is gone: its memory goes back to the driver."""
        self.graph = None
        self.pool.graphs -= 1
        # (To give back is to wait for the GPU: not while another capture is open, and not at the end of the process.)
        if not self.pool.graphs and captures.current() is None and not sys.is_finalizing():
            self.pool.release()


_side: Any = None


def from_host(values: np.ndarray) -> Any:
    """A small array of the host on the GPU: now, also while work is being captured (and then for as long as the graph is)."""
    global _side
    capture = captures.current()
    if capture is None:
        return sending.sent(values) if sending.can_be_sent(values) else cupy.asarray(values)
    if _side is None:
        _side = cupy.cuda.Stream(non_blocking=True)
    with _side, cupy.cuda.using_allocator(capture.pool.malloc):
        made = cupy.asarray(values)
        _side.synchronize()
    capture.held.append(made)
    return made


_counters: dict[int, Any] = {}


def counter_of_stream() -> Any:
    """A number of the GPU that is 0 between launches: programs count there who of them ends last. One for each stream, for ever."""
    stream = cupy.cuda.get_current_stream().ptr
    found = _counters.get(stream)
    if found is None:
        memory = pool.malloc(SMALL)  # (not of a graph that is being captured)
        aside = cupy.cuda.Stream(non_blocking=True)
        memory.memset_async(0, SMALL, aside)
        aside.synchronize()
        found = _counters[stream] = cupy.ndarray((1,), np.int32, memory)
    return found


def received(values: np.ndarray) -> Any:
    """An array of the host on the GPU; its layout stays, where it has no gaps."""
    if values.ndim > 1 and not values.flags.c_contiguous:
        order = sorted(range(values.ndim), key=lambda d: -values.strides[d])
        back = sorted(range(values.ndim), key=order.__getitem__)
        return received(np.ascontiguousarray(values.transpose(order))).transpose(back)
    return from_host(values)

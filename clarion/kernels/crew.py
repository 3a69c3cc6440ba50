"""Threads of Python that share long walks through arrays, where nothing is compiled.

    def task(begin, end):  # computes the elements begin … end - 1 of something
        np.exp(x[begin:end], out[begin:end])

    share(task, x.size)

    with one_job():  # what may wait is done at the end, as one job: threads meet once
        ...

NOTE [Crew]: NumPy lets go of Python's lock while a loop runs, so the loops of two threads run at the same time; between them
each thread asks for the lock. A thread that finds it taken goes to sleep, and to be woken takes longer than a short loop: so pieces
have to be long (`PIECE`), longer than the second-level cache would like, and a single pass over an array, which takes no longer than
to wake somebody, gains nothing: this is for the many steps of an optimizer. Linux likes to wake a thread on the processor of
whoever woke it, where it waits: so helpers keep away from the processor of the caller. A helper without work sleeps. One
caller has the crew at a time; another one, or one inside of a task, does its work alone. After a fork the crew begins anew.

The pieces of `share` do not depend on the number of threads, and so neither does what is computed. One thing is cut by its callers into as many
parts as there are threads: the gradient of a convolution's weight, a sum over images, whose last bits depend on that, as PyTorch's do.
"""

from __future__ import annotations

import contextvars
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..forks import fork_safe
from .quiet import gather, tell
from .threads import number

PIECE = 1 << 18  # elements that a thread takes at a time, at most

Task = Callable[[int, int], Any]


def share(task: Task, size: int, piece: int = PIECE, *, may_wait: bool = False) -> None:
    """Run `task(begin, end)` for pieces of at most `piece` that cover 0 … size - 1, on as many threads as kernels may use.

    `may_wait`: nobody needs what it does before the end of the `one_job` around it.
    """
    piece = -(-size // max(1, -(-size // piece)))  # all of about one length
    pieces = [(task, begin, min(begin + piece, size)) for begin in range(0, size, piece)]
    if may_wait and _mine.waiting is not None:
        _mine.waiting += pieces
    else:
        _run(pieces)


class one_job:
    """What this thread shares inside, and may wait, is done at the end."""

    def __enter__(self) -> None:
        self.outer, _mine.waiting = _mine.waiting, []

    def __exit__(self, failed: Any, *_: Any) -> None:
        pieces, _mine.waiting = _mine.waiting, self.outer
        if pieces and failed is None:
            _run(pieces)


class _Mine(threading.local):
    waiting: list[Any] | None = None


_mine = _Mine()


def _run(pieces: list[tuple[Task, int, int]]) -> None:
    job = Job(pieces)
    helpers = min(number(), len(pieces)) - 1
    if helpers > 0 and _busy.acquire(blocking=False):
        try:
            _together(job, helpers)
        finally:
            _busy.release()
    else:
        job.work()


class Job:
    """Pieces of work; whoever is free takes the next one."""

    def __init__(self, pieces: list[tuple[Task, int, int]]) -> None:
        self.pieces = iter(pieces)

    def work(self) -> None:
        """Take pieces until there are none."""
        for task, begin, end in self.pieces:
            task(begin, end)


class Helper:
    """A thread that takes part in jobs, in the context of whoever asks (NumPy's floating-point warnings are off there, or not)."""

    def __init__(self) -> None:
        self.go, self.done = threading.Lock(), threading.Lock()
        self.go.acquire()
        self.done.acquire()
        self.error: BaseException | None = None
        self.heard: list[str] = []
        threading.Thread(target=self._live, name="clarion crew", daemon=True).start()

    def begin(self, job: Job, here: int) -> None:
        """Take part in a job of a caller on the processor `here`."""
        self.job, self.here, self.context = job, here, contextvars.copy_context()
        self.go.release()

    def finish(self) -> None:
        """Wait until the helper is done; what it met is told and raised here."""
        self.done.acquire()
        for kind in self.heard:
            tell(kind)
        self.heard.clear()
        error, self.error = self.error, None
        if error is not None:
            raise error

    def _live(self) -> None:
        gather(self.heard)
        away, allowed = -1, os.sched_getaffinity(0) if sys.platform == "linux" else set()
        while True:
            self.go.acquire()
            try:
                if self.here != away:
                    away = self.here
                    _keep_away(away, allowed)
                self.context.run(self.job.work)
            except BaseException as error:
                self.error = error
            self.done.release()


_crew: list[Helper] = []
_busy = fork_safe(threading.Lock())


def _together(job: Job, helpers: int) -> None:
    while len(_crew) < helpers:
        _crew.append(Helper())
    asked, here = _crew[:helpers], processor()
    for helper in asked:
        helper.begin(job, here)
    try:
        job.work()
    except BaseException:
        job.pieces = iter(())  # nobody takes another piece
        raise
    finally:
        for helper in asked:
            helper.finish()


# Processors ------------------------------------------------------------------------------------------------


@functools.cache
def _ask() -> Callable[[], int]:
    if sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1:
        function: Any = getattr(ctypes.PyDLL(None), "sched_getcpu", None)
        if function is not None:
            return function  # type: ignore[no-any-return]
    return lambda: -1


def processor() -> int:
    """The one that the caller runs on; -1 where nobody knows, or there is one only."""
    return _ask()()


def _keep_away(here: int, allowed: set[int]) -> None:
    """This thread runs on any of the processors but one."""
    if allowed > {here}:
        os.sched_setaffinity(0, allowed - {here})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_crew.clear)

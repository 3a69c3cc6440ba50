"""What a worker process does: seed itself, then turn indices into batches until the main process hangs up."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import random
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ....ops.creation.questions import set_num_threads
from ....ops.random.generator import manual_seed
from .failure import Failure
from .fetch import DatasetKind, _IterableDatasetFetcher, _MapDatasetFetcher
from .transport import Sender


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Which worker this is, of how many, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker process, which one it is (id, num_workers, seed, dataset); in the main process None."""
    return _worker_info


@dataclass(frozen=True)
class Job:
    """What all workers of an iterator are told at their start."""

    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    init_fn: Callable[[int], None] | None
    num_workers: int


@dataclass(frozen=True)
class Ended:
    """The answer of a worker whose stream is at its end."""


@dataclass(frozen=True)
class Restart:
    """The request to begin another epoch (with the seed of its pipes, if there are any), and its answer."""

    seed: int | None = None


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Ctrl-C waits until a process has been forked, and in the new one until `work` can catch it.

    Before that it would come out of Python's own handlers after a fork, which print it and go on.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(job: Job, worker_id: int, connection: Connection) -> None:
    """The main function of a worker."""
    global _worker_info
    try:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        set_num_threads(1)
        seed_worker(job.base_seed, worker_id)
        _worker_info = WorkerInfo(worker_id, job.num_workers, job.base_seed + worker_id, job.dataset)
        _Worker(job, worker_id, connection).run()
    except (KeyboardInterrupt, BrokenPipeError, ConnectionResetError):
        pass  # Ctrl-C reaches the main process too, which then hangs up


def seed_worker(base_seed: int, worker_id: int) -> None:
    """Seed Python, clarion and NumPy with the numbers that PyTorch's workers are seeded with."""
    seed = base_seed + worker_id
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(_generate_state(base_seed, worker_id))


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """A seed for NumPy, which has the algorithm of `random`: another one, lest the two run in step."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


class _Worker:
    """Answers requests, one after the other, in the order in which they come."""

    def __init__(self, job: Job, worker_id: int, connection: Connection) -> None:
        self.job = job
        self.id = worker_id
        self.connection = connection
        self.sender = Sender(connection)
        self.fetcher: _MapDatasetFetcher | _IterableDatasetFetcher | None = None
        self.failure: Failure | None = None  # of the preparations: the answer to the first task
        self.stream_ended = False

    def run(self) -> None:
        inbox = Inbox(self.connection)
        self.prepare(self.job.init_fn)
        while (request := inbox.next()) is not None:
            number, index, read = pickle.loads(request)
            self.sender.release(read)
            if isinstance(number, Restart):
                from .pipes import seed_pipes

                seed_pipes(self.job.dataset, number.seed)
                self.prepare(None)
                self.sender.send((number, None))
            elif not self.stream_ended:
                self.answer(number, self.load(index))

    def prepare(self, init_fn: Callable[[int], None] | None) -> None:
        """Before an epoch: call the user's function (before the first one only), and begin a stream anew."""
        job = self.job
        self.stream_ended = False
        try:
            if init_fn is not None:
                init_fn(self.id)
            self.fetcher = DatasetKind.create_fetcher(
                job.kind, job.dataset, job.auto_collation, job.collate_fn, job.drop_last
            )
        except Exception as error:
            self.failure = self.failed(error)

    def load(self, index: Any) -> Any:
        if self.failure is not None:
            failure, self.failure = self.failure, None
            return failure
        try:
            return self.fetcher.fetch(index)  # type: ignore[union-attr]
        except StopIteration as error:
            if self.job.kind != DatasetKind.Iterable:
                return self.failed(error)
            self.stream_ended = True
            return Ended()
        except Exception as error:
            return self.failed(error)

    def answer(self, number: Any, data: Any) -> None:
        try:
            self.sender.send((number, data))
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # it cannot be pickled
            self.sender.send((number, self.failed(error)))

    def failed(self, error: Exception) -> Failure:
        return Failure(error, f"in DataLoader worker process {self.id}")


class Inbox:
    """Requests of the main process, read by a thread of their own.

    So the main process never blocks while it sends, even if this one is busy, or blocked sending itself.
    The thread also notices the end of the main process, and then ends this one.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._parent = os.getppid()
        self.hung_up = False
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def next(self) -> bytes | None:
        """The next request; None when there will be no more."""
        request = self._requests.get()
        return None if self.hung_up else request

    def _read(self) -> None:
        import multiprocessing
        from multiprocessing.connection import wait

        parent = multiprocessing.parent_process()
        watched: list[Any] = [self._connection] if parent is None else [self._connection, parent.sentinel]
        while True:
            ready = wait(watched, timeout=1.0)
            if self._connection in ready:
                try:
                    self._requests.put(self._connection.recv_bytes())
                except (EOFError, OSError):
                    self.hung_up = True
                    self._requests.put(None)
                    return
            elif ready or os.getppid() != self._parent:
                os._exit(1)  # nobody is left to load for

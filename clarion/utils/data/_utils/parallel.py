"""The iterator of a loader with worker processes: who loads what, and in which order batches come out."""

from __future__ import annotations

import itertools
import multiprocessing
import weakref
from typing import Any

from ....errors import EngineError
from ..dataloader import DataLoader, _BaseDataLoaderIter
from .crew import Crew
from .failure import Failure
from .pipes import init_fn_for, seeded
from .worker import Ended, Job, Restart

_NOTHING = object()


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Hands out tasks in turn, `prefetch_factor` to each worker ahead, and gives their answers in order.

    A task is a numbered index (or list of indices) of the sampler. `_tasks` maps the numbers of tasks that were
    sent to [worker, answer]; `_send` is the number of the next one, `_give` of the next batch to give out.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        assert loader.prefetch_factor is not None
        if loader.prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._max_tasks = loader.prefetch_factor * self._num_workers
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._lost: EngineError | None = None
        job = Job(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            self._base_seed,
            init_fn_for(self._dataset, loader.worker_init_fn, self._shared_seed),
            self._num_workers,
        )
        self._crew = Crew(loader.multiprocessing_context or multiprocessing.get_context(), job)
        # Runs when the iterator is dropped, however little of it was used, and at the end of the program.
        weakref.finalize(self, self._crew.close)
        seeded(self._dataset, loader.generator)  # PyTorch draws twice before the first epoch
        self._begin(loader)

    def _begin(self, loader: DataLoader[Any]) -> None:
        self._start(loader)
        self._send = self._give = 0
        self._tasks: dict[int, list[Any]] = {}
        self._active = [True] * self._num_workers
        self._load = [0] * self._num_workers  # tasks each worker has not answered yet
        self._turns = itertools.cycle(range(self._num_workers))
        for _ in range(self._max_tasks):
            self._send_task()

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Are the workers gone, so that another epoch needs another iterator?"""
        return self._crew.closed

    @property
    def _workers(self) -> list[Any]:
        return self._crew.processes

    def restart(self, loader: DataLoader[Any]) -> None:
        """Begin another epoch with the same workers; answers of an unfinished one are thrown away."""
        restart = Restart(seeded(self._dataset, loader.generator))
        for worker in range(self._num_workers):
            self._crew.send(worker, restart, None)
        waiting = self._num_workers
        while waiting:
            number, _ = self._receive()
            waiting -= isinstance(number, Restart)
        self._begin(loader)

    def _receive(self) -> Any:
        try:
            answer = self._crew.receive(self._timeout or None)
        except EngineError as error:
            self._lost = error
            raise
        except BaseException as error:  # Ctrl-C in the middle of a message: what follows could not be understood
            self._crew.close()
            self._lost = EngineError(f"DataLoader workers were stopped: waiting for them ended in {error!r}")
            raise
        if answer is None:
            raise EngineError(f"DataLoader timed out after {self._timeout} seconds")
        return answer

    def _send_task(self) -> None:
        try:
            index = self._next_index()
        except StopIteration:
            return
        for _ in range(self._num_workers):
            worker = next(self._turns)
            if self._active[worker] and (self._in_order or self._load[worker] < self._max_tasks // sum(self._active)):
                break
        else:
            return
        self._tasks[self._send] = [worker, _NOTHING]
        self._load[worker] += 1
        self._crew.send(worker, self._send, index)
        self._send += 1

    def _skip_lost_tasks(self) -> None:
        """Pass over tasks that were given to a worker whose stream then ended; StopIteration after the last task."""
        while self._give < self._send:
            task = self._tasks.get(self._give)
            if task is not None:
                if task[1] is not _NOTHING or self._active[task[0]]:
                    return
                del self._tasks[self._give]
            self._give += 1
        if not self._persistent:
            self._crew.close()
        raise StopIteration

    def _next_data(self) -> Any:
        if self._lost is not None:
            raise self._lost
        while True:
            self._skip_lost_tasks()
            number, data = self._give, self._tasks[self._give][1]
            if data is _NOTHING:
                number, data = self._receive()
                worker = self._tasks[number][0]
                if isinstance(data, Ended):
                    self._active[worker] = False
                    if not self._persistent:
                        self._crew.dismiss(worker)
                    self._send_task()
                    continue
                if self._in_order and number != self._give:
                    self._tasks[number][1] = data
                    continue
            worker = self._tasks.pop(number)[0]
            self._give += number == self._give
            self._load[worker] -= 1
            self._send_task()
            if isinstance(data, Failure):
                data.reraise()
            return data

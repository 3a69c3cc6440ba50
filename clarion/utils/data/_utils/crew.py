"""The worker processes of an iterator, as the main process sees them."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import socket
import time
import warnings
from collections import deque
from multiprocessing.connection import Connection, wait
from typing import Any

from ....errors import EngineError
from .transport import Receiver
from .worker import Job, interrupts_wait, work

_GRACE = 5.0  # seconds that a worker has to finish what it is doing before it is killed


class Crew:
    """Starts workers, sends them requests, collects their answers, notices when one dies, and ends them.

    Each worker has a socket of its own, and the end of a process can be waited for like a message: no answer
    of one worker can be held up or spoilt by the death of another, and a death is seen at once.
    """

    def __init__(self, context: Any, job: Job) -> None:
        self._owner = os.getpid()
        self._closed = False
        self._ready: deque[Any] = deque()  # connections with something to read
        self.processes: list[Any] = []
        self._connections: list[Connection] = []
        self._receivers: list[Receiver] = []
        self._watched: dict[Any, int] = {}  # connections and sentinels of workers, and whose they are
        try:
            for worker in range(job.num_workers):
                self._start(context, job, worker)
        except BaseException:
            self.close()
            raise

    def _start(self, context: Any, job: Job, worker: int) -> None:
        ours, theirs = context.Pipe(duplex=True)
        process = context.Process(target=work, args=(job, worker, theirs), daemon=True)
        self.processes.append(process)
        self._connections.append(ours)
        self._receivers.append(Receiver(ours))
        try:
            with warnings.catch_warnings():
                # Python 3.12 warns of every fork beside a thread, and NumPy's matrix products have threads.
                warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
                with interrupts_wait() if context.get_start_method() == "fork" else contextlib.nullcontext():
                    process.start()
        except (TypeError, AttributeError, pickle.PicklingError):
            warnings.warn(
                "Got pickle error when attempting to start a worker Process. This might be because the worker Process "
                "arguments are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX "
                "platforms to 'forkserver', which requires the worker Process arguments to be picklable. You can also try "
                "multiprocessing.set_start_method('fork').",
                stacklevel=6,
            )
            raise
        finally:
            theirs.close()
        self._watched[ours] = self._watched[process.sentinel] = worker

    def send(self, worker: int, number: Any, index: Any) -> None:
        """Send a request; if the worker is dead, `receive` will say so."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connections[worker].send((number, index, self._receivers[worker].take_read()))

    def receive(self, timeout: float | None) -> Any:
        """The next answer of any worker; None if there is none in time. Raises if a worker has died."""
        while not self._ready:
            ready = wait(list(self._watched), timeout)
            if not ready:
                return None
            self._ready.extend([each for each in ready if not isinstance(each, int)])
            if not self._ready:
                raise self._death({self._watched[sentinel] for sentinel in ready})
        connection = self._ready.popleft()
        try:
            return self._receivers[self._watched[connection]].receive()
        except (EOFError, OSError) as error:
            raise self._death({self._watched[connection]}) from error

    def _death(self, workers: set[int]) -> EngineError:
        dead = [self.processes[worker] for worker in sorted(workers)]
        for process in dead:
            process.join(1.0)
        reasons = sorted({_reason(process.exitcode) for process in dead})
        pids = ", ".join([str(process.pid) for process in dead])
        self.close()
        return EngineError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly\n{' '.join(reasons)}")

    def dismiss(self, worker: int) -> None:
        """Let one worker end: it has nothing left to load."""
        connection = self._connections[worker]
        self._watched.pop(connection, None)
        self._watched.pop(self.processes[worker].sentinel, None)
        if connection in self._ready:
            self._ready.remove(connection)
        _hang_up(connection)
        self._receivers[worker].close()

    def _started(self) -> list[Any]:
        return [process for process in self.processes if process.pid is not None]

    @property
    def closed(self) -> bool:
        """Have the workers been ended?"""
        return self._closed

    def close(self) -> None:
        """End all workers, and wait until they have ended. A copy in a forked process ends nothing."""
        if self._closed or os.getpid() != self._owner:
            return
        self._closed = True
        try:
            for connection, receiver in zip(self._connections, self._receivers, strict=True):
                _hang_up(connection)
                receiver.close()
            until = time.monotonic() + _GRACE
            for process in self._started():
                process.join(max(0.0, until - time.monotonic()))
        finally:  # also after Ctrl-C while waiting
            for end in ("terminate", "kill"):
                left = [process for process in self._started() if process.is_alive()]
                for process in left:
                    getattr(process, end)()
                for process in left:
                    process.join(1.0)


def _hang_up(connection: Connection) -> None:
    """Close a connection for all who hold it: other workers have copies, if they were forked later."""
    if connection.closed:
        return
    if os.name == "posix":
        try:
            with socket.socket(fileno=os.dup(connection.fileno())) as end:
                end.shutdown(socket.SHUT_RDWR)
        except OSError:  # the other side is gone already
            pass
    connection.close()


def _reason(exitcode: int | None) -> str:
    if exitcode is None:
        return "It closed its connection."
    if exitcode < 0:
        name = signal.Signals(-exitcode).name if -exitcode in set(signal.Signals) else f"signal {-exitcode}"
        hint = ": the system does that when memory runs out" if name == "SIGKILL" else ""
        return f"It was ended by {name}{hint}."
    return f"It ended with exit code {exitcode} while there was work left; its own output may say why."

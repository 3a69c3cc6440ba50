"""`torch.multiprocessing.spawn`: several processes of one function, and their failures."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import Any

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"


class ProcessException(Exception):
    """A process failed."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process raised an exception; its traceback is in the text."""


class ProcessExitedException(ProcessException):
    """A process ended with an exit status, or by a signal."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_file: str) -> None:
    """In the new process: call the function; what it raises is written down for `join`."""
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # killed by whoever started us
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Several processes that were started together."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: i for i, process in enumerate(processes)}

    def pids(self) -> list[int | None]:
        """The numbers that the system knows them by."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until one ends; True when all have. If one failed, the others are ended, and it is raised."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)  # type: ignore[arg-type]
            self.processes[index].join()
            if self.processes[index].exitcode:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._end_all(grace_period)
        self._raise(failed)
        return False

    def _end_all(self, grace_period: float | None) -> None:
        deadline = None if grace_period is None else time.monotonic() + grace_period
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30 if deadline is None else max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def _raise(self, index: int) -> None:
        process = self.processes[index]
        if os.path.getsize(self.error_files[index]):
            with open(self.error_files[index], "rb") as file:
                text = pickle.load(file)
            raise ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        if process.exitcode < 0:
            name = signal.Signals(-process.exitcode).name
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, process.exitcode, name
            )
        raise ProcessExitedException(
            f"process {index} terminated with exit code {process.exitcode}", index, process.pid, process.exitcode
        )


class SpawnContext(ProcessContext):
    """Older name of it."""


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
    **options: Any,
) -> ProcessContext | None:
    """`fn(i, *args)` in processes 0 to nprocs - 1; waits for them, or gives back what to wait for."""
    method: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for i in range(nprocs):
        with tempfile.NamedTemporaryFile(prefix="clarion-errors-", suffix=".pickle", delete=False) as file:
            files.append(file.name)
        process = method.Process(target=_run, args=(fn, i, args, file.name), daemon=daemon)
        process.start()
        processes.append(process)
    context = SpawnContext(processes, files)
    if not join:
        return context
    try:
        while not context.join():
            pass
    finally:
        for name in files:
            os.unlink(name)
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` with processes that begin anew."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)

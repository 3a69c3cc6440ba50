"""Timing a statement: as `timeit` does, with one thread unless told otherwise, and as often as it takes."""

from __future__ import annotations

import textwrap
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ArgumentValueError, NotSupportedError
from ...ops.faces.api import FUNCTIONS
from .measurement import Measurement, TaskSpec


class Timer:
    """Measure a statement (text), after a setup, with the given global names."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ArgumentValueError("Currently only a `str` stmt is supported.")
        if getattr(language, "name", str(language)).lower() not in ("python", "py"):
            raise NotSupportedError("torch.utils.benchmark.Timer: clarion times Python, not C++")
        if global_setup:
            raise ArgumentValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        stmt, setup = (textwrap.dedent(text).strip() for text in (stmt, setup))
        self._timer = timeit.Timer(stmt, setup, timer, globals)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _run(self, number: int) -> float:
        # A clock can stand still over a single quick statement.
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement so often, once."""
        with _Threads(self._task_spec.num_threads):
            self._run(max(int(number // 100), 2))  # warm up
            return Measurement(number, [self._run(number)], self._task_spec)

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Run blocks of the statement for at least so many seconds; blocks are as long as the clock needs."""
        with _Threads(self._task_spec.num_threads):
            number, times, spent = self._block_size(min_run_time), [], 0.0
            while spent < min_run_time or not times:
                times.append(self._run(number))
                spent += times[-1]
                if callback is not None:
                    callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    autorange = blocked_autorange

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Run blocks of the statement until their spread is below a share of the median, or the time is up."""
        with _Threads(self._task_spec.num_threads):
            number, times, spent = self._block_size(0.05), [], 0.0
            while spent < max_run_time:
                times.append(self._run(number))
                spent += times[-1]
                if callback is not None:
                    callback(number, times[-1])
                found = Measurement(number, times, self._task_spec)
                if spent >= min_run_time and len(times) >= 4 and found.meets_confidence(threshold):
                    break
        return Measurement(number, times, self._task_spec)

    def _block_size(self, min_run_time: float) -> int:
        """Runs per block: enough that reading the clock does not matter, and a thousandth of the time at least."""
        overhead = float(np.median([timeit.Timer("pass").timeit(0) for _ in range(5)]))
        number = 1
        while True:
            took = self._run(number)
            if took >= min_run_time / 1000 and overhead / took < 1e-4:
                return number
            if took > min_run_time:
                return number
            number *= 10

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> Any:
        """Not there."""
        raise NotSupportedError("torch.utils.benchmark.Timer.collect_callgrind: clarion does not count instructions")


class _Threads:
    """So many threads for as long as the block lasts."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __enter__(self) -> None:
        self._before = FUNCTIONS["get_num_threads"]()
        FUNCTIONS["set_num_threads"](self._count)

    def __exit__(self, *_: object) -> None:
        FUNCTIONS["set_num_threads"](self._before)

"""How a workload is measured: both libraries in turn in one process, best of several rounds.

What counts is the wall clock with all threads: how long a user waits. The processor time beside it says what that costs, and
holds on a machine that is busy with something else.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

WORKLOADS: dict[str, Callable[[Any], Callable[[], object]]] = {}


def workload(function: Callable[[Any], Callable[[], object]]) -> Callable[[Any], Callable[[], object]]:
    """Register a workload: given the namespace (clarion or torch) it prepares, and returns what to time."""
    WORKLOADS[function.__name__] = function
    return function


@dataclass
class Time:
    """Seconds per call: by the clock on the wall, and of all processors together."""

    wall: float
    processor: float


@dataclass
class Result:
    """What a call of one workload takes on each library; `others`: compiled ones, and further libraries, by name."""

    name: str
    clarion: Time
    torch: Time | None
    others: dict[str, Time] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How many times as fast as PyTorch."""
        return None if self.torch is None else self.torch.wall / self.clarion.wall

    @property
    def processor_ratio(self) -> float | None:
        """The same of processor time."""
        return None if self.torch is None else self.torch.processor / self.clarion.processor


def _timed(step: Callable[[], object], count: int) -> Time:
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(count):
        step()
    return Time((time.perf_counter() - wall) / count, (time.process_time() - processor) / count)


def _repetitions(step: Callable[[], object], target: float = 0.02, before: float = 0.5) -> int:
    """How many calls take about `target` seconds. The first calls, which compile and fill caches, do not count.

    (Diagnoses listen closely to the first some thousand operations, and kernels are compiled for small arrays after some hundred.)
    """
    warm = time.process_time() + before
    step()
    while time.process_time() < warm:
        step()
    count = 1
    while True:
        spent = _timed(step, count).wall * count
        if spent > target / 4:
            return max(1, round(count * target / spent))
        count *= 2


Steps = dict[str, Callable[[], object]]


_AGAIN = 0.01  # seconds that a step runs untimed when its turn comes


def _again(step: Callable[[], object]) -> None:
    """Run a step as if it had never paused: threads of the library before look for work for some milliseconds after its last call, on the
    processors that this one needs, and have emptied the caches."""
    ready = time.perf_counter() + _AGAIN
    while time.perf_counter() < ready:
        step()


def alternating(steps: Steps, rounds: int) -> dict[str, Time]:
    """Time several ways to do the same thing in turn: the best of several rounds of each."""
    counts = {name: _repetitions(step) for name, step in steps.items()}
    gc.freeze()  # the collections below look at what the steps leave behind, not at the libraries
    best = {name: Time(float("inf"), float("inf")) for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            gc.collect()
            _again(step)
            now = _timed(step, counts[name])
            best[name] = Time(min(best[name].wall, now.wall), min(best[name].processor, now.processor))
    return best


def measure(name: str, clarion: Any, torch: Any | None, rounds: int = 15, others: Steps | None = None) -> Result:
    """Time one workload on both libraries, and whatever else can do the same, alternating."""
    steps: Steps = {"clarion": WORKLOADS[name](clarion)}
    if torch is not None:
        steps["torch"] = WORKLOADS[name](torch)
    times = alternating(steps | (others or {}), rounds)
    return Result(name, times.pop("clarion"), times.pop("torch", None), times)

"""How a workload is measured: both libraries in turn, one thread each, best of several rounds of processor time.

Processor time, because other programs on the machine would be measured along with the wall clock.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

WORKLOADS: dict[str, Callable[[Any], Callable[[], object]]] = {}


def workload(function: Callable[[Any], Callable[[], object]]) -> Callable[[Any], Callable[[], object]]:
    """Register a workload: given the namespace (clarion or torch) it prepares, and returns what to time."""
    WORKLOADS[function.__name__] = function
    return function


@dataclass
class Result:
    """Seconds per call."""

    name: str
    clarion: float
    torch: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as fast as PyTorch."""
        return None if self.torch is None else self.torch / self.clarion


def _repetitions(step: Callable[[], object], target: float = 0.02) -> int:
    """How many calls take about `target` seconds. The first calls, which compile and fill caches, do not count."""
    warm = time.process_time() + target
    while time.process_time() < warm:
        step()
    count = 1
    while True:
        began = time.process_time()
        for _ in range(count):
            step()
        spent = time.process_time() - began
        if spent > target / 4:
            return max(1, round(count * target / spent))
        count *= 2


def measure(name: str, clarion: Any, torch: Any | None, rounds: int = 15) -> Result:
    """Time one workload on both libraries, alternating."""
    steps = [WORKLOADS[name](t) for t in (clarion, torch) if t is not None]
    counts = [_repetitions(step) for step in steps]
    gc.freeze()  # the collections below look at what the steps leave behind, not at the libraries
    best = [float("inf")] * len(steps)
    for _ in range(rounds):
        for i, step in enumerate(steps):
            gc.collect()
            began = time.process_time()
            for _ in range(counts[i]):
                step()
            best[i] = min(best[i], (time.process_time() - began) / counts[i])
    return Result(name, best[0], best[1] if torch is not None else None)

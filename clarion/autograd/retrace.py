"""What a checkpointed region did in each of its two runs, for whoever listens to `recomputed`; otherwise nothing."""

from __future__ import annotations

import contextlib
import functools
import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import modes, provenance
from ..core.devices import xp_of
from ..core.tensor import Tensor
from ..events import hub, subscribe
from ..kernels.batched.levels import all_samples

Place = provenance.Place | None
SAMPLES = 8192  # elements of an array that a digest looks at, up to twice as many

# What else a region is run with: each takes note at the first run and gives the context of the second (autocast does).
remembered: list[Callable[[], contextlib.AbstractContextManager[Any]]] = []


class Trace:
    """One run: what it kept (saved values, or its results), its operations, each with its line and a digest; its writes.

    What was kept decides whether two runs differ: a region may well compute something only once (a cached table). The
    operations say where.
    """

    def __init__(self) -> None:
        self.kept: list[tuple[Place, tuple[float, float]]] = []
        self.operations: list[tuple[str, Place, tuple[float, float]]] = []
        self.writes: list[tuple[weakref.ref[Tensor], Place]] = []

    def _applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        self.operations.append((op.name, provenance.here(), _digest(outs[0]._array)))

    def _wrote(self, tensor: Tensor, how: str) -> None:
        self.writes.append((weakref.ref(tensor), provenance.here()))

    def keep(self, tensor: Tensor) -> None:
        """A value that the backward pass uses."""
        self.kept.append((provenance.here(), _digest(tensor._array)))

    def differences(self, again: Trace) -> list[Place]:
        """Where the second run differs, as the first one knows the lines: the first operation, then the kept values."""
        both = zip(self.kept, again.kept, strict=False)
        found = [place for (place, before), (_, after) in both if not _alike(before, after)]
        if found:
            for (name, place, before), (name_again, _, after) in zip(self.operations, again.operations, strict=False):
                if name != name_again or not _alike(before, after):
                    return [place, *found]
        return found

    def first_other_operation(self, again: Trace) -> Place:
        """Where the second run first did something else: an operation that was left out, or one that is new."""
        for (name, place, _), (name_again, place_again, _) in zip(self.operations, again.operations, strict=False):
            if (name, place) != (name_again, place_again):
                return place if any(place_again == other for _, other, _ in self.operations) else place_again
        return None


def begin() -> Trace | None:
    """A trace to be written, if anybody listens closely."""
    return Trace() if hub.recomputed is not None and modes.watched else None


@contextlib.contextmanager
def listening(trace: Trace | None) -> Iterator[None]:
    """Write down what runs inside."""
    if trace is None:
        yield
        return
    stops = subscribe("applied", trace._applied), subscribe("wrote", trace._wrote)
    try:
        yield
    finally:
        for stop in stops:
            stop()


def tell(function: Callable[..., Any], place: Place, replayed: bool, first: Trace | None, again: Trace | None) -> None:
    """Say how the second run of a region differed from the first."""
    if hub.recomputed is None or first is None or again is None:
        return
    facts: dict[str, Any] = {"place": place, "random_replayed": replayed, "differs": first.differences(again)}
    written = [(reference(), line) for reference, line in again.writes]
    facts["written"] = [(tensor, _line_of(tensor, first) or line) for tensor, line in written if tensor is not None]
    hub.recomputed(function, facts)


def _line_of(tensor: Tensor, trace: Trace) -> Place:
    """The line that wrote to this tensor in a run; None if none did."""
    return next((place for written, place in trace.writes if written() is tensor), None)


def _digest(array: Any) -> tuple[float, float]:
    """A weighted sum and the norm: enough to tell other values from rounding."""
    array = all_samples(array)
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype) if array.flags.c_contiguous else array.real
    flat = array.reshape(-1)
    flat = flat[:: max(1, flat.size // SAMPLES)].astype(np.float64)
    xp = xp_of(array)
    with np.errstate(all="ignore"):
        return float(xp.dot(flat, _weights(xp, flat.size))), float(xp.sqrt(xp.dot(flat, flat)))


@functools.lru_cache(maxsize=32)
def _weights(xp: Any, count: int) -> Any:
    """Numbers without a pattern. (They cost more than the rest of a digest: once is enough.)"""
    return xp.cos(xp.arange(count))


def _alike(a: tuple[float, float], b: tuple[float, float]) -> bool:
    if not (math.isfinite(a[1]) and math.isfinite(b[1])):
        return math.isfinite(a[1]) == math.isfinite(b[1])
    return max(abs(a[0] - b[0]), abs(a[1] - b[1])) <= 1e-5 * (a[1] + b[1]) + 1e-12

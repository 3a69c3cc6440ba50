"""A replay gave something infinite, or no number: the same step once more as it is written, from what it began with, where diagnoses see its lines."""

from __future__ import annotations

import contextlib
import io
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ..core.tensor import Tensor
from ..kernels.mt19937 import default_generator
from .checking import Snapshot

SMALL = 1 << 16  # bytes of what a step overwrites and is given that are kept at each call; more are kept every so often
OFTEN = 16


class Beginning(NamedTuple):
    """What a call began with: arrays with their values, the state of random numbers, arguments (None where they are large)."""

    arrays: list[tuple[Any, Any]]
    random: Any
    given: Any

    def is_finite(self) -> bool:
        """Were all numbers finite?"""
        return all(values.dtype.kind not in "fc" or bool(np.isfinite(values).all()) for _, values in self.arrays)


class Beginnings:
    """What the last two replays of a version began with, while somebody listens for errors of floating-point numbers."""

    def __init__(self) -> None:
        self._age = OFTEN
        self._last: deque[Beginning] = deque(maxlen=2)
        self._roots: list[Any] | None = None
        self._size = 0

    def forget(self) -> None:
        """Tensors lie elsewhere now."""
        self._roots = None
        self._last.clear()

    def _find(self, ready: Any) -> list[Any]:
        """The memory of the tensors that the function reaches: many of them lie in one piece."""
        found: dict[int, Any] = {}
        for tensor, _ in ready.watch.tensors:
            array = tensor._array
            root = array.base
            if not isinstance(root, np.ndarray) or root.nbytes > SMALL:
                root = array
            found[id(root)] = root
        self._size = sum(root.nbytes for root in found.values())
        return list(found.values())

    def keep(self, ready: Any, args: Any, kwargs: Any, leaves: list[Any]) -> None:
        """Before a replay."""
        if self._roots is None:
            self._roots = self._find(ready)
        given = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)]
        arrays = self._roots + given if ready.writes_given else self._roots
        self._age += 1
        small = self._size + (sum([array.nbytes for array in given]) if given else 0) <= SMALL
        if self._age < OFTEN and not small:
            return
        self._age = 0
        random = default_generator.get_state() if ready.draws else None
        copies = [(array, array.copy("K")) for array in arrays]
        self._last.append(Beginning(copies, random, (args, kwargs) if small else None))

    def explain(self, compiled: Any, ready: Any, args: Any, kwargs: Any, leaves: list[Any]) -> None:
        """Do what the function does, and leave no trace of it but what is said. Values that were broken already: the call before."""
        begin = self._last[-1]
        given = (args, kwargs)
        if not begin.is_finite() and len(self._last) == 2 and self._last[0].given is not None:
            begin = self._last[0]
            given = begin.given
        after = Snapshot(ready, leaves)
        lengths = [(target, len(target)) for target, _ in ready.effects.appended]
        for array, values in begin.arrays:
            array[...] = values
        if begin.random is not None:
            default_generator.set_state(begin.random)
        try:
            with contextlib.redirect_stdout(io.StringIO()) if ready.effects.printed else contextlib.nullcontext():
                compiled.function(*given[0], **given[1])
        finally:
            for target, length in lengths:
                del target[length:]
            after.restore()

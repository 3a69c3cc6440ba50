"""A replay gave something infinite, or no number: the same step once more as it is written, from what it began with, where diagnoses see its lines."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..kernels.mt19937 import default_generator
from .checking import Snapshot

SMALL = 1 << 16  # bytes of what a step reaches and is given that are kept at each call; more are kept every so often
OFTEN = 16
LATE, SELDOM = 1000, 8  # after so many calls little is kept at each eighth, too

copyto = np.copyto


class Beginning:
    """What a call began with: arrays with their values, the state of random numbers, arguments (None where they are large)."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays = [(array, array.copy("K")) for array in arrays]
        self.random: Any = None
        self.given: Any = None

    def begin_anew(self) -> None:
        """Take over the values of now."""
        for array, values in self.arrays:
            copyto(values, array)

    def is_finite(self) -> bool:
        """Were all numbers finite?"""
        return _finite([values for _, values in self.arrays])

    def stays_finite(self) -> bool:
        """Are they now?"""
        return _finite([array for array, _ in self.arrays])


def _finite(arrays: list[Any]) -> bool:
    return all(array.dtype.kind not in "fc" or bool(np.isfinite(array).all()) for array in arrays)


class Beginnings:
    """What the last two replays of a version began with, while somebody listens for errors of floating-point numbers."""

    def __init__(self) -> None:
        self._age = self._pause = self._calls = 0  # calls since the last that was kept, to the next, and in all
        self._last: list[Beginning] = []  # the older one first
        self._roots: list[Any] | None = None
        self._size = 0

    def forget(self) -> None:
        """Tensors lie elsewhere now."""
        self._roots, self._pause = None, 0
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
        self._age += 1
        if self._age < self._pause:
            return
        if self._roots is None:
            self._roots = self._find(ready)
        size = self._size + sum([leaf._array.nbytes for leaf in leaves if isinstance(leaf, Tensor)])
        self._calls += self._age
        self._age, self._pause = 0, OFTEN if size > SMALL else SELDOM if self._calls > LATE else 0
        last = self._last
        if len(last) == 2 and not ready.writes_given:
            begin = last[0]
            begin.begin_anew()
            last[0], last[1] = last[1], begin
        else:
            given = [leaf._array for leaf in leaves if isinstance(leaf, Tensor)] if ready.writes_given else []
            begin = Beginning(self._roots + given)
            last.append(begin)
            del last[:-2]
        begin.random = default_generator.get_state() if ready.draws else None
        begin.given = (args, kwargs) if size <= SMALL else None

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
                for _ in range(self._age + 1):  # as many calls as there were since, unless it shows before
                    compiled.function(*given[0], **given[1])
                    if not begin.stays_finite():
                        break
        finally:
            for target, length in lengths:
                del target[length:]
            after.restore()

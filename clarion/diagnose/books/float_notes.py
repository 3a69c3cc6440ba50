"""Floating-point errors as they happen: which line divided by zero, overflowed, or got no number.

An engine tells of them (in clarion NumPy does, while kernels run), so a program without any pays nothing. Most are
harmless: a logarithm of zero that `where` leaves out. They are noted, and looked at only if a loss or a gradient breaks.

Addition, products and matrix products run under the user's own error state and are not heard of.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from .. import engine
from ..source.places import Place, here
from .passes import CountsPasses

_PER_PASS = 64  # notes between two backward passes: the first ones count
_SMALL = 4096  # elements of an operand that are kept with a note


class Note(NamedTuple):
    """One error. `place` is the user's line; in a backward pass, that of the operation whose gradient is computed."""

    kind: str  # "divide by zero", "overflow", "invalid value"
    place: Place | None
    operation: str  # in a backward pass
    in_backward: bool
    passes: int  # that had begun by then
    operand: Any = None  # what an operation on one tensor was given, if that is small


class Notes(CountsPasses):
    """The last errors, and every line that ever had one outside of a backward pass."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.passes = 0
        self.broken_pass = -1_000  # the last one that began with a loss that is not finite
        self.told = False  # something was said already: whatever is not finite from then on follows from it
        self._recent: deque[Note] = deque(maxlen=4 * _PER_PASS)
        self._room = (0, _PER_PASS)  # for notes at this number of passes
        self.lines: dict[tuple[Any, int], Note] = {}

    def on_float_error(self, kind: str) -> None:
        """An error happened."""
        at, left = self._room
        if at != self.passes:
            left = _PER_PASS
        if left <= 0:
            return
        self._room = self.passes, left - 1
        node = engine.node_running()
        if node is not None:
            self._recent.append(Note(kind, node.place, engine.operation(node), True, self.passes))
            return
        place = here()
        note = Note(kind, place, "", False, self.passes, _small(engine.operand_running()))
        self._recent.append(note)
        if place is not None and len(self.lines) < 256:
            self.lines.setdefault(place, note)

    @property
    def last(self) -> Note | None:
        """The error that was noted last."""
        return self._recent[-1] if self._recent else None

    def of_forward(self, number: int) -> list[Note]:
        """Those between the pass before this one and this one."""
        return [note for note in self._recent if note.passes == number - 1 and not note.in_backward]

    def of_backward(self, number: int) -> list[Note]:
        """Those in this pass."""
        return [note for note in self._recent if note.passes == number and note.in_backward]


def _small(array: Any) -> Any:
    """A copy of what an operation is working on, if it is small."""
    return array.copy() if isinstance(array, np.ndarray) and array.size <= _SMALL else None


notes = Notes()

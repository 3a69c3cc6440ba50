"""Floating-point errors as they happen: which line divided by zero, overflowed, or got no number.

NumPy tells of them while clarion's kernels run (`kernels/quiet.py`), so a program without any pays nothing. Most are
harmless: a logarithm of zero that `where` leaves out. They are noted, and looked at only if a loss or a gradient breaks.

Addition, products and matrix products run under the user's own error state and are not heard of.
"""

from __future__ import annotations

import sys
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ...core import engine
from ...core.passes import running
from ...core.provenance import Place, here
from ..graph.reach import operation

_PER_PASS = 64  # notes between two backward passes: the first ones count
_SMALL = 4096  # elements of an operand that are kept with a note
_RUN = engine.run.__code__


class Note(NamedTuple):
    """One error. `place` is the user's line; in a backward pass, that of the operation whose gradient is computed."""

    kind: str  # "divide by zero", "overflow", "invalid value"
    place: Place | None
    operation: str  # in a backward pass
    in_backward: bool
    passes: int  # that had begun by then
    operand: Any = None  # what an operation on one tensor was given, if that is small


class Notes:
    """The last errors, and every line that ever had one outside of a backward pass."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self.passes = 0  # backward passes that have begun
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
        node = _running_node() if running.this is not None else None
        if node is not None:
            self._recent.append(Note(kind, node.place, operation(node), True, self.passes))
            return
        place = here()
        note = Note(kind, place, "", False, self.passes, _operand())
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


def _operand() -> Any:
    """The array that an operation on one tensor is working on, found in the frame of its call (core/hot.py)."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<call of "):
            here = frame.f_locals
            array = here.get("a")
            small = isinstance(array, np.ndarray) and array.size <= _SMALL and "b" not in here
            return array.copy() if small else None
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _running_node() -> Any:
    """The node whose gradient is being computed, found in the engine's frame."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code is _RUN:
            return frame.f_locals.get("node")
        frame = frame.f_back  # type: ignore[assignment]
    return None


notes = Notes()

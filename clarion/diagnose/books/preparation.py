"""Which line of the program computes the data that operations of the graph are given: known while listening closely.

Data has no history. When a value in it is not finite, in a step that nobody listened to, what is known of steps before tells
which line divides by a deviation that may be zero, or takes the logarithm of a count.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, NamedTuple

from .. import engine
from ..graph.holders import first_in
from ..graph.traits import having
from ..source.places import Place, here

_RISKY = having("quotient log root power exponential arc deviation norm normalizes")  # their result may not be finite
_MOST = 4096  # lines that are remembered


class Prepared(NamedTuple):
    """The last operation on the way of some data that may give something that is not finite."""

    place: Place
    operation: str


class Preparations:
    """Follows values without history to the operations of the graph that get them."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[Any], Prepared]] = {}
        self._lines: dict[Place, Prepared] = {}  # by the line of the operation that got it

    def applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran."""
        if not outs:
            return
        recorded = engine.node(outs[0]) is not None
        made = None
        if self._made:
            for value in inputs:
                known = self._made.get(id(value))
                if known is not None and known[0]() is value:
                    made = known[1]
        if recorded:
            if made is not None and len(self._lines) < _MOST:
                place = here()
                if place is not None:
                    self._lines[place] = made
        elif not engine.requires_grad(outs[0]):
            if op.name in _RISKY:
                place = here()
                made = made if place is None else Prepared(place, op.name)
            if made is not None and engine.kind(outs[0]) == "f":
                for out in outs:
                    self._note(out, made)

    def _note(self, value: Any, made: Prepared) -> None:
        key, known = id(value), self._made

        def forget(gone: Any) -> None:
            if key in known and known[key][0] is gone:
                del known[key]

        known[key] = weakref.ref(value, forget), made

    def of(self, place: Place | None) -> Prepared | None:
        """What computes the data of the operation at a line, unless data at hand is not finite before it comes there."""
        found = None if place is None else self._lines.get(place)
        return None if found is None or _has_bad_data() else found


def _has_bad_data() -> bool:
    """Does a variable of the functions that are running hold data that is not finite?"""
    frame = sys._getframe(1)
    while frame is not None:
        if not engine.is_library(frame.f_code.co_filename) and first_in(frame, _is_bad_data) is not None:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _is_bad_data(value: Any) -> bool:
    is_data = engine.is_tensor(value) and not engine.requires_grad(value) and engine.kind(value) == "f"
    return is_data and engine.size(value) > 0 and not engine.all_finite(value)

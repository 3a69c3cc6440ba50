"""Which line of the program computes the data that operations of the graph are given: known while listening closely.

Data has no history. When a value in it is not finite, in a step that nobody listened to, what is known of steps before tells
which line divides by a deviation that may be zero, or takes the logarithm of a count. Where there are several on the way, or data at
hand may have come so, the next step is asked: the first that makes something non-finite of what is finite.
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
_ON_THE_WAY = 8  # of them that are remembered for one value


class Prepared(NamedTuple):
    """An operation on the way of some data that may give something that is not finite."""

    place: Place
    operation: str


class Preparations:
    """Follows values without history to the operations of the graph that get them."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[Any], tuple[Prepared, ...]]] = {}  # the oldest first
        self._lines: dict[Place, tuple[Prepared, ...]] = {}  # by the line of the operation that got it
        self._asked: tuple[Prepared, ...] = ()
        self.found: Prepared | None = None  # of those that were asked, the one that is to blame

    def ask(self, these: tuple[Prepared, ...]) -> None:
        """Which of these makes something non-finite of what is finite?"""
        self._asked, self.found = these, None

    def applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran."""
        if not outs:
            return
        recorded = engine.node(outs[0]) is not None
        made: tuple[Prepared, ...] = ()
        if self._made:
            for value in inputs:
                known = self._made.get(id(value))
                if known is not None and known[0]() is value:
                    made = known[1] if not made else tuple(dict.fromkeys((*made, *known[1])))
        if recorded:
            if made and len(self._lines) < _MOST:
                place = here()
                if place is not None:
                    self._lines[place] = made
        elif not engine.requires_grad(outs[0]):
            if op.name in _RISKY and (place := here()) is not None:
                this = Prepared(place, op.name)
                made = (*(each for each in made[1 - _ON_THE_WAY :] if each != this), this)
                if this in self._asked and self.found is None and _breaks(inputs, outs):
                    self.found = this
            if made and engine.kind(outs[0]) == "f":
                for out in outs:
                    self._note(out, made)

    def _note(self, value: Any, made: tuple[Prepared, ...]) -> None:
        key, known = id(value), self._made

        def forget(gone: Any) -> None:
            if key in known and known[key][0] is gone:
                del known[key]

        known[key] = weakref.ref(value, forget), made

    def of(self, place: Place | None) -> tuple[tuple[Prepared, ...], bool]:
        """What computes the data of the operation at a line; and is data at hand not finite? It may have come so, or be what was computed."""
        found = () if place is None else self._lines.get(place, ())
        return found, bool(found) and _has_bad_data()


def _breaks(inputs: Any, outs: Any) -> bool:
    """Did an operation make something non-finite of what is finite?"""
    return not all(map(engine.all_finite, outs)) and all(
        engine.all_finite(value) for value in inputs if engine.is_tensor(value) and engine.kind(value) == "f"
    )


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

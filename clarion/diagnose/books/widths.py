"""How many nodes are made from one backward pass to the next. A number that is new means that the program does something new: a
second phase of a curriculum, a term of the loss that comes late. Whoever listens closely at the beginning only would miss it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import engine

if TYPE_CHECKING:
    from ..session import Session

_LEARNT = 12  # passes after which what is new is a change: the first ones are listened to often enough
_SETTLED, _AGAIN = 32, 4  # the same at rest, where numbers may be others: who listens makes some; and at a later rest
_MOST = 48  # different numbers: of a program that has more, they tell nothing
_CHANGES = 6  # that are listened to


class Widths:
    """Calls for attention where the graph of a step is not like any before."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._awake: set[int] = set()
        self._resting: set[int] = set()
        self._at: float | None = None  # where the last pass began
        self._passes = 0
        self._settled = 0  # until an engine has counted so many passes, at rest, nothing is a change
        self._first = False  # is the next pass the first at rest? What was heard before it may have made nodes, too
        self._changes = 0
        self.changed = -_LEARNT * 10  # passes until the last change
        engine.expect_widths(None)

    def on_backward_began(self, *_: Any) -> None:
        """A pass begins."""
        before, self._at = self._at, engine.mark()
        if before is None:
            return
        width = int(before - self._at)
        self._passes += 1
        if width not in self._awake and len(self._awake) < _MOST:
            self._awake.add(width)
            if self._passes > _LEARNT:
                self._change()

    def rest(self) -> None:
        """The session rests: of ordinary passes nothing is heard."""
        self._at, self._first = None, True
        self._settled = engine.width()[1] + (_AGAIN if self._resting else _SETTLED)
        engine.expect_widths(self._resting if len(self._resting) < _MOST else None, self._settled)

    def rest_backward_began(self, *_: Any) -> None:
        """A pass is told, because it is one of many, or because it is not like the others."""
        width, passes = engine.width()
        if width is None or width in self._resting or not self._session.resting:
            return
        first, self._first = self._first, False
        if first:
            return
        self._resting.add(width)
        if len(self._resting) >= _MOST:
            engine.expect_widths(None)
        elif passes > self._settled:
            self._change()

    def _change(self) -> None:
        self.changed = self._session.ledger.passes
        if self._changes < _CHANGES:  # (if it is listening closely just now, it would soon stop)
            self._changes += 1
            self._session.begin_phase()

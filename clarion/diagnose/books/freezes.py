"""Parameters that were frozen for the time of an evaluation, and of which some were forgotten when it was over."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from .. import engine
from ..source.places import Place, here
from .records import OptimizerStory

if TYPE_CHECKING:
    from .ledger import Ledger

_MOST = 64  # spells that are remembered
_HEARD = 200  # operations after a freeze: is the model run?


class Spell:
    """Trained parameters that one line froze between two updates."""

    def __init__(self, place: Place | None, updates: int) -> None:
        self.place, self.updates = place, updates
        self.recording = engine.recording()
        self.members: dict[int, tuple[weakref.ref[Any], OptimizerStory, int]] = {}  # with the steps it had made
        self.ran = False  # the model was called while all of them were frozen
        self.thawed: Place | None = None  # where some of them were set free

    def was_for_an_evaluation(self) -> bool:
        """A stage of the training freezes and thaws in one go; an evaluation runs the model before it thaws, or records nothing."""
        return self.ran and (self.thawed is not None or not self.recording)

    def forgotten(self, steps: int) -> list[Any]:
        """Who is frozen still, so many steps of its optimizer later?"""
        leaves = [ref() for ref, story, before in self.members.values() if story.steps - before >= steps]
        return [leaf for leaf in leaves if leaf is not None and not engine.requires_grad(leaf)]


class Freezes:
    """All such spells."""

    def __init__(self, session: Any, ledger: Ledger) -> None:
        self._session, self._ledger = session, ledger
        self._open: Spell | None = None
        self.suspected: list[Spell] = []

    def frozen(self, leaf: Any, story: OptimizerStory) -> None:
        """A parameter that was trained is frozen. Is the model run now?"""
        if any(id(leaf) in spell.members for spell in self.suspected):
            return
        place, updates = here(), self._ledger.updates
        if self._open is None or (self._open.place, self._open.updates) != (place, updates):
            self.close()
            self._open = Spell(place, updates)
            self._session.attend(_HEARD)
        self._open.members[id(leaf)] = weakref.ref(leaf), story, story.steps

    def thawed(self, leaf: Any) -> None:
        """It is set free."""
        for spell in self.suspected:
            spell.members.pop(id(leaf), None)
        if self._open is not None and self._open.members.pop(id(leaf), None) is not None:
            self._open.thawed = here()

    def ran(self, module: Any) -> None:
        """A module is called."""
        if self._open is not None and self._open.thawed is None:
            self._open.ran |= self._open.recording or not engine.recording()

    def close(self) -> bool:
        """An update follows, or another freeze: is the last one suspected?"""
        spell, self._open = self._open, None
        if spell is not None and spell.members and spell.was_for_an_evaluation() and len(self.suspected) < _MOST:
            self.suspected.append(spell)
        self.suspected = [spell for spell in self.suspected if spell.members]
        return bool(self.suspected)

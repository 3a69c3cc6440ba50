"""Parameters that were frozen for the time of an evaluation, and of which some were forgotten when it was over; others with another model."""

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


class Shared:
    """Parameters of an optimizer, never trained, that are frozen because another model shares them which was frozen as a whole (a teacher)."""

    def __init__(self, optimizer: Any, ledger: Ledger) -> None:
        own = {id(leaf): leaf for group in optimizer.param_groups for leaf in group["params"]}
        frozen = {key for key, leaf in own.items() if _is_new(leaf) and not engine.requires_grad(leaf)}
        self.leaves: dict[int, weakref.ref[Any]] = {}
        self.models: weakref.WeakSet[Any] = weakref.WeakSet()
        self.ran = False  # was such a model called as a whole? (Else it may only have lent its parts.)
        for module in list(ledger.modules) if 0 < len(frozen) < len(own) else ():
            parameters = list(module.parameters())
            shared = [leaf for leaf in parameters if id(leaf) in frozen]
            if not shared or any(map(engine.requires_grad, parameters)):
                continue
            stories = [engine.story(leaf) for leaf in parameters if id(leaf) not in own]
            places = {story.frozen for story in stories if story is not None and story.frozen is not None}
            if places.intersection(engine.story(leaf).frozen for leaf in shared):
                self.models.add(module)
                self.leaves.update((id(leaf), weakref.ref(leaf)) for leaf in shared)

    def still(self) -> list[Any]:
        """Those that are frozen still."""
        found = [leaf for reference in self.leaves.values() if (leaf := reference()) is not None]
        return [leaf for leaf in found if _is_new(leaf) and not engine.requires_grad(leaf)]


def _is_new(leaf: Any) -> bool:
    """Has nobody written to it, whoever has computed gradients for it?"""
    story = engine.story(leaf)
    return story is not None and (not story.deposits or engine.writes(leaf) == story.written)

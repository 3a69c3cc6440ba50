"""gradient-discarded"""

from __future__ import annotations

import linecache
import re
from typing import Any, NamedTuple

from .. import engine
from ..books.records import Backward, Clear, Story
from ..graph.module_trees import seats
from ..graph.strangers import Written
from ..rule import Diagnosis
from ..source.places import Place, here, text

# Updates for each time that gradients are thrown away: more of them, and it is no habit of the loop. For a pass of a line that trains
# otherwise, and for one of which no update ever used any.
_SELDOM, _SELDOM_OTHERS = 4, 2
# The same where every look at a gradient would have been heard of, and how often it has to come then.
_SELDOM_UNREAD, _UNREAD = 16, 4
# What reads gradients of parameters and of modules, unheard; and in code that was to be compiled.
_HOOK, _LOOK = re.compile("hook"), re.compile(r"\.grad\b(?!\s*(\(|=[^=]))")
_LOOKS = 8  # times per line that the modules are looked at
_NEVER, _HEARD = 20, 4  # gradients of an optimizer that never steps, and times that it was heard to clear them


class GradientDiscarded(Diagnosis):
    """Gradients were computed and cleared before any update used them.

    Typically `zero_grad()` stands between `backward()` and `step()`, or inside the loop over micro-batches whose
    gradients should have been summed. The work of the backward pass is thrown away.

    Broken:

        loss.backward()
        optimizer.zero_grad()
        optimizer.step()

    Fixed:

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    An optimizer that never steps, whose gradients are cleared again and again, is named when the program ends.

    Silent where somebody had a use for the gradients: another optimizer's step used a part of them (GANs), the program read
    a `.grad` or had hooks on activations (saliency maps, Grad-CAM, inspection), the model was in eval mode and the training's
    own `backward()` is another, a GradScaler skipped the step, they were not finite.
    """

    name = "gradient-discarded"
    why = "the backward pass was for nothing: these gradients never reached a parameter."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Cleared unused so far; whether a later update uses another part of the same pass shows at the next clear.
        self._pending: list[_Thrown] = []
        self._times: dict[
            Any, tuple[int, int]
        ] = {}  # per line: how often, and how many updates there were at the first
        self._told: dict[Place | None, Place | None] = {}  # passes that were reported, and the line that cleared
        self._looks: dict[Place | None, tuple[int, bool]] = {}  # per line: how often, and the last answer
        self._stepless: dict[int, _Stepless] = {}  # optimizers that have not stepped so far
        self._written = Written()

    def at_discard(self, clear: Clear) -> None:
        """Judge what was pending, and put the new ones there."""
        still: list[_Thrown] = []
        for thrown in self._pending:
            if thrown.backward.used:
                continue
            if self.ledger.updates > thrown.updates:
                self._discarded(thrown)
            elif len(still) < 64:
                still.append(thrown)
        self._pending = still
        if clear.unused and clear.finite and any(_is_trained(leaf) for leaf in clear.leaves):
            looked = self._is_inspection(clear)
            unused = [b for b in clear.unused if not _may_be_looked_at(b.place)]
            self._pending += [_Thrown(b, clear.place, self.ledger.updates, looked) for b in unused]

    def near_cleared(self, leaves: Any) -> None:
        """Does an optimizer clear new gradients that it never stepped with? (Another may have used a part of the same pass.)"""
        story = engine.story(leaves[0]) if len(leaves) else None
        optimizer = story.owner() if story is not None and story.owner is not None else None
        if story is None or optimizer is None or optimizer._story.steps:
            return
        known = self._stepless.setdefault(id(optimizer._story), _Stepless(optimizer, story, here()))
        last = self.ledger.last_backward
        known.written = known.written or self._written.has(leaves[0])
        if story.deposits > known.deposits and last is not None:
            known.deposits, known.backward = story.deposits, last.place
            known.times += 1

    def at_exit(self) -> None:
        """Optimizers that never stepped, while others did."""
        engine.count_steps()
        for known in self._stepless.values():
            if known.story.steps or known.story.untold or known.written or known.times < _HEARD:
                continue
            if min(known.leaf.deposits, self.ledger.updates) < _NEVER or known.place in self._told.values():
                continue
            self.report(
                known.place,
                f"This optimizer ({known.story.kind}) never stepped, though others did: the gradients that `backward()` at "
                f"{text(known.backward)} computed for its parameters were cleared here each time.",
                fix="call `step()` of the optimizer that owns them (was another one called twice?).",
                also=[known.backward],
            )

    def _is_inspection(self, clear: Clear) -> bool:
        """Is the model in eval mode, or do modules have hooks for their gradients?"""
        times, answer = self._looks.get(clear.place, (0, False))
        if times < _LOOKS:
            cleared = {id(leaf) for leaf in clear.leaves}
            roots = {seat.root for key, seat in seats(self.ledger).items() if key in cleared}
            answer = any(not r.training or any(m._backward_hooks for m in r.modules()) for r in roots)
            self._looks[clear.place] = times + 1, answer
        return answer

    def _trained_by(self) -> Place | None:
        """The line of the last pass before the last update. (Later ones may be the next map's, which is being made.)"""
        ledger = self.ledger
        return next((b.place for b in reversed(ledger.recent) if b.step < ledger.step), None)

    def _discarded(self, thrown: _Thrown) -> None:
        backward, place = thrown.backward, thrown.place
        is_own = self._trained_by() == backward.place
        if thrown.looked and not is_own:
            return
        times, first = self._times.get(place, (0, self.ledger.updates))
        times += 1
        self._times[place] = times, first
        # Seldom, next to the updates: a saliency map between epochs, whose gradients nobody wants.
        used = is_own or any(b.used and b.place == backward.place for b in self.ledger.recent)
        seldom = _SELDOM if used else _SELDOM_OTHERS
        if not used and times >= _UNREAD and self.session.woke < 0 and not _speaks_of(backward.place, _HOOK):
            seldom = _SELDOM_UNREAD
        if times < 2 or (times - 1) * seldom < self.ledger.updates - first:
            return
        if self._told.setdefault(backward.place, place) != place:  # another part of the same pass
            return
        self.report(
            place,
            f"Gradients that `backward()` at {text(backward.place)} computed are cleared here before any update uses them "
            f"({times} times so far).",
            fix="clear before `backward()` or after `step()`: zero_grad(); loss.backward(); step(). To sum over "
            "micro-batches, clear once per update, not once per batch.",
            also=[backward.place],
        )


def _speaks_of(place: Place | None, what: re.Pattern[str]) -> bool:
    """Is it named anywhere in the file of a line? There it may have been done to the gradients of a pass, unheard."""
    return place is None or any(what.search(line) for line in linecache.getlines(place[0].co_filename))


def _may_be_looked_at(place: Place | None) -> bool:
    return place is not None and not engine.hears_looks(place[0].co_filename) and _speaks_of(place, _LOOK)


class _Stepless:
    """An optimizer that has not stepped, by its story and that of a parameter: where it clears, and how often new gradients."""

    def __init__(self, optimizer: Any, leaf: Story, place: Place | None) -> None:
        self.story, self.leaf, self.place = optimizer._story, leaf, place
        self.deposits = self.times = 0
        self.written = False  # does somebody else update it?
        self.backward: Place | None = None


class _Thrown(NamedTuple):
    """A pass whose gradients were cleared unused."""

    backward: Backward
    place: Place | None
    updates: int  # by then
    looked: bool  # as an inspection does: in eval mode, or with hooks; but the training's own line is none


def _is_trained(leaf: Any) -> bool:
    story = engine.story(leaf)
    return story is not None and story.owner is not None and story.owner() is not None

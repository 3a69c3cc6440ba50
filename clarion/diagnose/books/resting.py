"""What is heard of every step while the session rests, in as few words as can be.

Where a whole step takes 20 µs, one microsecond is a twentieth of it. So ordinary passes are not told at all, but counted
(`events.Unheard`), and ordinary steps only counted here; everything else goes on to the handlers proper, which count for
themselves. Where one optimizer steps once after every pass, steps are not heard of either (`DEEP`): that ends before a step that
is to be looked at, and whenever something happens. How many there were the parameters know, whose writes are counted anyway.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import engine
from .records import DENSE, OptimizerStory

if TYPE_CHECKING:
    from .ledger import Ledger

Handler = Callable[..., None]

OF_STEPS = ("stepped",)
_OFTEN = 7  # one less than the steps after which it is asked whether passes alone would do, unless they did before
_SEVERAL = 8  # optimizers at most whose steps are counted by their parameters


class _Counted:
    """An optimizer whose steps are not heard of, and a parameter that is written to in each of them."""

    __slots__ = ("_before", "_leaf", "_rate", "story")

    def __init__(self, story: OptimizerStory, leaf: Any) -> None:
        self.story = story
        self._leaf, self._before, self._rate = weakref.ref(leaf), engine.writes(leaf), story.writes

    def steps(self, unknown: int) -> int:
        """How many there were (`unknown`, if the parameter is gone)."""
        leaf = self._leaf()
        return unknown if leaf is None else (engine.writes(leaf) - self._before) // self._rate

    def is_whole(self) -> bool:
        """Did nobody else write to the parameter?"""
        leaf = self._leaf()
        return leaf is None or not (engine.writes(leaf) - self._before) % self._rate


def _last(optimizer: Any) -> Any:
    """The parameter that stands for an optimizer; None where it has none."""
    groups = optimizer.__dict__.get("param_groups")
    return groups[-1]["params"][-1] if groups and groups[-1]["params"] else None


class Pace:
    """Passes and steps side by side, while the session rests."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.holds = False  # was every pass followed by one step, as far as is known?
        self.often = _OFTEN
        self._before: tuple[int, ...] | None = None  # the counts when they were compared last
        self._counted: list[_Counted] = []  # the one whose steps are not heard of, and others

    def forget(self) -> None:
        """Something else begins."""
        self.often = 0 if self.holds else self.often
        self._before, self.holds = None, False

    def compare(self, optimizer: Any, story: OptimizerStory) -> None:
        """If every pass was followed by one step since this was asked last, hear of no steps until the next that counts."""
        ledger, leaf = self._ledger, _last(optimizer)
        now = ledger.passes, ledger.step, story.steps, engine.writes(leaf)
        before, self._before = self._before or now, now
        passes, steps, own, writes = [a - b for a, b in zip(now, before, strict=True)]
        rate = writes // max(1, passes)
        self.holds = passes == steps == own and writes == rate * passes > 0
        self.often = self.often if self.holds or not passes else _OFTEN
        if self.holds and len(ledger.optimizers) <= _SEVERAL:
            story.writes = rate
            left = min(ledger.waking.at - ledger.passes, story.track.due - story.steps)
            self._counted = [_Counted(story, leaf), *self._others(optimizer)]
            ledger.session.deepen()
            engine.leave_untold(left - 1)

    def _others(self, optimizer: Any) -> list[_Counted]:
        stories = [
            (each.__dict__.get("_story"), _last(each)) for each in self._ledger.optimizers if each is not optimizer
        ]
        return [_Counted(story, leaf) for story, leaf in stories if story is not None and leaf is not None]

    def count(self) -> None:
        """Steps are heard of again: how many were there?"""
        if not self._counted or self._before is None:
            return
        (own, *others), self._counted = self._counted, []
        ledger, passes = self._ledger, self._ledger.passes - self._before[0]
        count = own.steps(passes)
        self.holds = count == passes and own.is_whole()
        for each in others:
            ledger.count_at_rest(each.story, each.steps(0))
        writes = self._before[3] + count * own.story.writes
        ledger.count_at_rest(own.story, count)
        self._before = ledger.passes, ledger.step, own.story.steps, writes

    def spare(self) -> None:
        """Ordinary passes need not be told until it is time to wake."""
        ledger = self._ledger
        engine.leave_untold(max(0, ledger.waking.at - ledger.passes - 1))


def hurry(optimizer: Any, pause: int) -> None:
    """Somebody waits for the next steps of an optimizer: measure one in so many at least."""
    story: OptimizerStory = optimizer._story
    story.track.hurry(story.steps, pause)
    if not engine.knows_all_nodes:  # it is told of some steps only: of which was decided before
        story.pause = min(story.pause, pause)
        engine.expect_step(pause)


def steps_of(ledger: Ledger, optimizer: Any) -> int:
    """How many steps an optimizer has made, told or not."""
    story: OptimizerStory = optimizer._story
    if not engine.knows_all_nodes:
        engine.count_steps()
        before, count, story.untold = ledger.step, story.untold, 0
        ledger.count_at_rest(story, count)
        if count and ledger.session.resting:
            ledger.counted_since(before)
    return story.steps


def _pass(ledger: Ledger, proper: Handler) -> Handler:
    session, pace = ledger.session, ledger.pace

    def heard(*facts: Any) -> None:
        session.surface()
        proper(*facts)
        if session.resting:
            pace.spare()

    return heard


def _step(ledger: Ledger, proper: Handler) -> Handler:
    session, pace, waking = ledger.session, ledger.pace, ledger.waking
    compare = session.guarded("the ledger", pace.compare)

    def heard(optimizer: Any) -> None:
        story = optimizer.__dict__.get("_story")
        if story is not None:
            steps, step = story.steps + 1, ledger.step + 1
            if DENSE < steps < story.track.due and not waking.overdue:
                story.steps, ledger.step = steps, step
                ledger.updates += 1
                if not step & pace.often:
                    compare(optimizer, story)
                return
        proper(optimizer)
        if pace.holds and session.resting:
            compare(optimizer, story)

    return heard


_SHORT: dict[str, Callable[[Ledger, Handler], Handler]] = {
    "backward_began": _pass,
    "stepped": _step,
    "mode": lambda ledger, proper: ledger.switches.shortly(proper),
}


def shortened(ledger: Ledger, table: dict[str, Any]) -> dict[str, Any]:
    """The handlers of a session at rest, those of every step behind their short forms. (An engine that tells some steps only counts itself.)"""
    if not engine.knows_all_nodes:
        return table
    return table | {event: short(ledger, table[event]) for event, short in _SHORT.items() if event in table}


def awake(ledger: Ledger, table: dict[str, Any]) -> dict[str, Any]:
    """The handlers of a session that is awake: blocks that come again and again are known."""
    if not engine.knows_all_nodes or "mode" not in table:
        return table
    return table | {"mode": ledger.switches.again(table["mode"])}


def passes_alone(table: dict[str, Any]) -> dict[str, Any]:
    """The same where steps are not heard of."""
    return {event: handler for event, handler in table.items() if event not in OF_STEPS}

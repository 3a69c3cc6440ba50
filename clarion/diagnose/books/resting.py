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


class Pace:
    """Passes and steps side by side, while the session rests."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.holds = False  # was every pass followed by one step, as far as is known?
        self.often = _OFTEN
        self._before: tuple[int, ...] | None = None  # the counts when they were compared last
        self._rate = 0  # writes of a step to the parameter that is looked at
        self._alone: tuple[OptimizerStory, Any] | None = None  # whose steps are not heard of, and that parameter

    def forget(self) -> None:
        """Something else begins."""
        self.often = 0 if self.holds else self.often
        self._before, self.holds = None, False

    def compare(self, optimizer: Any, story: OptimizerStory) -> None:
        """If every pass was followed by one step since this was asked last, hear of no steps until the next that counts."""
        ledger = self._ledger
        leaf = optimizer.param_groups[-1]["params"][-1]
        now = ledger.passes, ledger.step, story.steps, engine.writes(leaf)
        before, self._before = self._before or now, now
        passes, steps, own, writes = [a - b for a, b in zip(now, before, strict=True)]
        self._rate = writes // max(1, passes)
        self.holds = passes == steps == own and writes == self._rate * passes > 0
        self.often = self.often if self.holds or not passes else _OFTEN
        if self.holds and len(ledger.optimizers) == 1:
            left = min(ledger.waking.at - ledger.passes, story.track.due - story.steps)
            self._alone = story, weakref.ref(leaf)
            ledger.session.deepen()
            engine.leave_untold(left - 1)

    def count(self) -> None:
        """Steps are heard of again. How many there were the parameter knows; if it is gone, they were as many as passes."""
        if self._alone is None or self._before is None:
            return
        (story, reference), self._alone = self._alone, None
        ledger, leaf = self._ledger, reference()
        passes = ledger.passes - self._before[0]
        writes = passes * self._rate if leaf is None else engine.writes(leaf) - self._before[3]
        self.holds = writes == passes * self._rate
        ledger.count_at_rest(story, writes // self._rate)
        self._before = ledger.passes, ledger.step, story.steps, self._before[3] + writes

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

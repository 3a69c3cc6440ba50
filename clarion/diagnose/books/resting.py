"""What is heard of every step while the session rests, in as few words as can be.

Where a whole step takes 20 µs, one microsecond is a twentieth of it. So what is ordinary is only counted here; everything else
goes on to the handlers proper, which count for themselves. Where one optimizer steps once after every pass, passes alone are
heard of and counted (`DEEP`); that ends before a step that is to be looked at, and whenever something happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import engine
from .float_notes import notes
from .records import DENSE

if TYPE_CHECKING:
    from .ledger import Ledger

Handler = Callable[..., None]

OF_STEPS = ("backward_began", "stepped")
CYCLE = 512  # steps, or passes, after which the session wakes for a while: a power of two
_WITHIN = CYCLE - 1
_OFTEN = 7  # one less than the steps after which it is asked whether passes alone would do
_LONG = 13  # bits of a count from which on it wakes less and less often: eight to sixteen times while the count doubles


def _cycle(count: int) -> int:
    return CYCLE << max(0, count.bit_length() - _LONG)


def is_time(before: int, now: int) -> bool:
    """Is it time to wake, where so many steps were counted before, and so many now?"""
    cycle = _cycle(now)
    return now // cycle > before // cycle


def _pass(ledger: Ledger, proper: Handler) -> Handler:
    ordinary = engine.ordinary

    def heard(tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        passes = ledger.passes + 1
        if accumulates and passes & _WITHIN and ordinary(tensors[0], ledger.loss_limit):
            ledger.passes = passes
            notes.passes += 1
        else:
            proper(tensors, gradients, retained, create, accumulates)

    return heard


def _pass_alone(ledger: Ledger, proper: Handler) -> Handler:
    ordinary = engine.ordinary

    def heard(tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        passes = notes.passes + 1
        if passes < ledger.alarm and accumulates and ordinary(tensors[0], ledger.loss_limit):
            notes.passes = passes
        else:
            ledger.session.surface()
            proper(tensors, gradients, retained, create, accumulates)

    return heard


def _step(ledger: Ledger, proper: Handler) -> Handler:
    deepen = ledger.session.guarded("the ledger", _deepen)

    def heard(optimizer: Any) -> None:
        story = optimizer.__dict__.get("_story")
        if story is not None:
            steps, step = story.steps + 1, ledger.step + 1
            if DENSE < steps < story.track.due and step & _WITHIN:
                story.steps, ledger.step = steps, step
                ledger.updates += 1
                if not step & _OFTEN:
                    deepen(ledger, story)
                return
        proper(optimizer)

    return heard


def _deepen(ledger: Ledger, story: Any) -> None:
    """If every pass was followed by one step since they were compared last, hear of passes alone until the next step that counts."""
    now = ledger.passes, ledger.step, story.steps
    step, steps = ledger.step, story.steps
    passed = {a - b for a, b in zip(now, ledger.pace or now, strict=True)}
    ledger.pace = now
    if len(passed) == 1 and passed != {0} and len(ledger.optimizers) == 1:
        cycle = _cycle(step)
        at = min(step - step % cycle + cycle, 1 << step.bit_length(), step + story.track.due - steps)
        ledger.alarm, ledger.alone = notes.passes + at - step, (story, notes.passes)
        ledger.session.deepen()


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


def passes_alone(ledger: Ledger, table: dict[str, Any]) -> dict[str, Any]:
    """The same where steps are not heard of."""
    found = table | {"backward_began": _pass_alone(ledger, table["backward_began"])}
    return {event: handler for event, handler in found.items() if event != "stepped"}

"""What is heard of every step while the session rests, in as few words as can be.

Where a whole step takes 20 µs, one microsecond is a twentieth of it. So what is ordinary is only counted here; everything else
goes on to the handlers proper, which count for themselves.
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

CYCLE = 512  # steps, or passes, after which the session wakes for a while: a power of two
_WITHIN = CYCLE - 1
_LONG = 13  # bits of a count from which on it wakes less and less often: eight to sixteen times while the count doubles


def is_time(before: int, now: int) -> bool:
    """Is it time to wake, where so many steps were counted before, and so many now?"""
    cycle = CYCLE << max(0, now.bit_length() - _LONG)
    return now // cycle > before // cycle


def _pass(ledger: Ledger, proper: Handler) -> Handler:
    finite = engine.finite_now

    def heard(tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        passes = ledger.passes + 1
        if accumulates and passes & _WITHIN and finite(tensors[0]):
            ledger.passes = passes
            notes.passes += 1
        else:
            proper(tensors, gradients, retained, create, accumulates)

    return heard


def _step(ledger: Ledger, proper: Handler) -> Handler:
    def heard(optimizer: Any) -> None:
        story = optimizer.__dict__.get("_story")
        if story is not None:
            steps, step = story.steps + 1, ledger.step + 1
            if DENSE < steps < story.track.due and step & _WITHIN:
                story.steps, ledger.step = steps, step
                ledger.updates += 1
                return
        proper(optimizer)

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

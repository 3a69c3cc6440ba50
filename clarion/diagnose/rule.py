"""The base of all diagnoses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .finding import WARN, Finding

if TYPE_CHECKING:
    from .books.ledger import Ledger
    from .session import Session
    from .source.places import Where


class Diagnosis:
    """One diagnosis: a rule, its messages, and its page (the docstring, which `clarion explain` shows).

    A subclass in `rules/` is found by itself. It listens by defining methods:

    on_EVENT(...)    an event of `clarion/events.py`, always. It runs at every such event: spend less than a microsecond
    near_EVENT(...)  the same, only while the session listens closely: the first steps, and a few later on
    rest_EVENT(...)  the same, only while the session rests: next to nothing may happen in it
    at_update(u)     the ledger says: parameters were updated (`records.Update`)
    at_backward(b)   the ledger says: gradients were deposited (`records.Backward`)
    at_gradients(u, sample)  the ledger says: the gradients of an optimizer's step were measured (`records.Sample`)
    at_stale(u)      the ledger says: an update used gradients twice (`u.stale`)
    at_empty_step(u) the ledger says: an optimizer stepped without any gradient
    at_seeded(b, tensors, gradients)  the ledger says: backward() begins with a gradient that the user gave
    at_undone(s)     the ledger says: a mode was left while others were open inside it (`switches.Switch`)
    at_discard(c)    the ledger says: gradients were cleared that nobody had used (`records.Clear`)
    at_exit()        the program ends
    """

    name: ClassVar[str]
    level: ClassVar[str] = WARN
    why: ClassVar[str] = ""
    thorough: ClassVar[bool] = False  # only with `clarion run --thorough`

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def ledger(self) -> Ledger:
        """What is known of the training so far."""
        return self.session.ledger

    def report(
        self,
        where: Where,
        what: str,
        *,
        fix: str,
        why: str | None = None,
        also: tuple[Where, ...] | list[Where] = (),
        level: str | None = None,
        error: Any = None,
    ) -> Finding | None:
        """Say it. Once per line; None if it was said or silenced. `error`: the exception about to be raised carries it."""
        return self.session.report(self, where, what, fix, why or self.why, also, level or self.level, error)

"""clip-without-effect"""

from __future__ import annotations

import math
import weakref
from typing import Any

from .. import engine
from ..books.records import Backward, Update
from ..rule import Diagnosis
from ..source.places import Place, here, text

_FAR = 1e4  # times the norm: a limit so far away is not there to clip


class ClipWithoutEffect(Diagnosis):
    """Gradients were clipped when there was nothing to clip: before `backward()`, after `step()`, or of an empty list.

    Broken:

        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)     # too late: the update has used them

    Fixed:

        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    A generator (`params = model.parameters()`) is empty after its first use: make a list of it. Clipping with
    `max_norm=inf`, or with a limit far above all gradients, to log the norm, never triggers this.
    """

    name = "clip-without-effect"
    why = "the updates use gradients that were never clipped; one bad batch can ruin the weights."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._times: dict[Any, int] = {}
        self._too_early: Place | None = None
        self._steps: dict[
            int, Place | None
        ] = {}  # by optimizer's id: where it stepped since the first clip that came too late
        self._stepping: _Stepping | None = None
        self._clips = False  # has anybody clipped so far?

    def near_step_began(self, optimizer: Any) -> None:
        """A hook that runs after the update may clip before `step()` is over."""
        leaves = (leaf for group in optimizer.param_groups for leaf in group["params"])
        leaf = next((leaf for leaf in leaves if engine.grad(leaf) is not None), None)
        self._stepping = None if leaf is None else _Stepping(leaf, here())

    def near_stepped(self, optimizer: Any) -> None:
        """It is over."""
        self._stepping = None

    def rest_clipped(self, leaves: list[Any], limit: float) -> None:
        """Somebody clips who never did before: look at it."""
        if limit == math.inf:
            return
        if not self._clips:
            self._clips = True
            self.session.begin_phase()
        self.session.hear_at_rest_no_more("clipped")

    def on_clipped(self, leaves: list[Any], limit: float) -> None:
        """Is there anything to clip?"""
        if limit == math.inf:
            return
        self._clips = True
        if self._stepping is not None and self._stepping.has_written(leaves):
            where = self._stepping.place
            self._count(
                here(), f"the `step()` at {text(where)} had already used the gradients (a hook after it)", [where]
            )
            return
        consumed = None
        for leaf in leaves:
            if engine.grad(leaf) is None:
                continue
            story = engine.story(leaf)
            if story is None or story.fresh:
                return
            if story.consumed:
                consumed = story
            elif engine.late(engine.grad(leaf)) or engine.array(engine.grad(leaf)).any():  # written by hand
                return
        place = here()
        if not leaves:
            self._count(place, "it was given no parameters at all (a generator is empty after its first use)", [])
        elif consumed is not None:
            if _is_far(leaves, limit):
                return
            self.session.listen("at_update", self, self._note_step, True)
            owner = consumed.owner() if consumed.owner is not None else None
            where = self._steps.get(id(owner), self.ledger.last_update)
            self._count(place, f"`step()` at {text(where)} had already used the gradients", [where])
        else:
            self._too_early = place

    def _note_step(self, update: Update) -> None:
        self._steps[id(update.optimizer)] = update.place

    def at_backward(self, backward: Backward) -> None:
        """A clip that found no gradient, and then `backward()`: it came too early."""
        place, self._too_early = self._too_early, None
        if place is not None:
            self._count(place, f"`backward()` at {text(backward.place)} comes only after it", [backward.place])

    def _count(self, place: Place | None, reason: str, also: list[Place | None]) -> None:
        times = self._times[place] = self._times.get(place, 0) + 1
        if times == 2:
            self.session.listen("at_update", self, self._note_step, False)
            self.report(
                place,
                f"Clipping had no effect, twice: {reason}.",
                fix="clip between the two: loss.backward(); torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm); "
                "optimizer.step()."
                if also
                else "keep the parameters in a list: `params = list(model.parameters())`.",
                also=also,
            )


class _Stepping:
    """A `step()` that runs: one of its leaves as it was, and the pass that gave it its gradient."""

    def __init__(self, leaf: Any, place: Place | None) -> None:
        self.place = place
        self._leaf, self._version = weakref.ref(leaf), engine.version(leaf)
        self._backward = _backward_of(leaf)

    def has_written(self, leaves: list[Any]) -> bool:
        """Has it written its leaf, and is the gradient still the one that it used (not that of a closure)?"""
        leaf = self._leaf()
        return (
            leaf is not None
            and any(leaf is other for other in leaves)
            and engine.version(leaf) != self._version
            and _backward_of(leaf) is self._backward
        )


def _is_far(leaves: list[Any], limit: float) -> bool:
    """Is a limit far above the norm of these gradients?"""
    grads = [grad for grad in map(engine.grad, leaves) if grad is not None]
    return not any(map(engine.late, grads)) and limit > _FAR * math.sqrt(sum(engine.squares(grads)))


def _backward_of(leaf: Any) -> Any:
    story = engine.story(leaf)
    return None if story is None else story.backward

"""gradient-discarded"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..books.records import Backward, Clear
from ..rule import Diagnosis
from ..source.places import Place, text

_SELDOM = 4  # updates for each time that gradients are thrown away: fewer of them are no habit of the loop


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

    Silent where somebody had a use for the gradients: another optimizer's step used a part of them (GANs), the program read
    a `.grad` (saliency maps, inspection), a GradScaler skipped the step, they were not finite.
    """

    name = "gradient-discarded"
    why = "the backward pass was for nothing: these gradients never reached a parameter."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Cleared unused so far; whether a later update uses another part of the same pass shows at the next clear.
        self._pending: list[tuple[Backward, Place | None, int]] = []
        self._times: dict[
            Any, tuple[int, int]
        ] = {}  # per line: how often, and how many updates there were at the first

    def at_discard(self, clear: Clear) -> None:
        """Judge what was pending, and put the new ones there."""
        still: list[tuple[Backward, Place | None, int]] = []
        for backward, place, updates in self._pending:
            if backward.used:
                continue
            if self.ledger.updates > updates:
                self._discarded(backward, place)
            elif len(still) < 64:
                still.append((backward, place, updates))
        self._pending = still
        if clear.unused and any(_is_trained(leaf) for leaf in clear.leaves):
            if clear.finite:
                self._pending += [(backward, clear.place, self.ledger.updates) for backward in clear.unused]

    def _discarded(self, backward: Backward, place: Place | None) -> None:
        times, first = self._times.get(place, (0, self.ledger.updates))
        times += 1
        self._times[place] = times, first
        # Seldom, next to the updates: a saliency map between epochs, whose gradients nobody wants.
        if times < 2 or (times - 1) * _SELDOM < self.ledger.updates - first:
            return
        self.report(
            place,
            f"Gradients that `backward()` at {text(backward.place)} computed are cleared here before any update uses them "
            f"({times} times so far).",
            fix="clear before `backward()` or after `step()`: zero_grad(); loss.backward(); step(). To sum over "
            "micro-batches, clear once per update, not once per batch.",
            also=[backward.place],
        )


def _is_trained(leaf: Any) -> bool:
    story = engine.story(leaf)
    return story is not None and story.owner is not None and story.owner() is not None

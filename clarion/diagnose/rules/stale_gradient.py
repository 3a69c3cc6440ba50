"""stale-gradient"""

from __future__ import annotations

from .. import engine
from ..books.records import Update
from ..rule import Diagnosis
from ..source.places import text


class StaleGradient(Diagnosis):
    """Gradients were used twice: nobody cleared them between two updates.

    `backward()` adds to `.grad`. Without a `zero_grad()` per update, each update applies the gradients of all earlier
    batches again. The loss may still fall; it looks like a learning rate that is too high.

    Broken:

        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()

    Fixed:

        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()

    Accumulating over several batches on purpose (backward, backward, step, zero_grad) never triggers this: the
    gradients are used once.
    """

    name = "stale-gradient"
    why = "each update mixes in every earlier batch; it looks like a learning rate that is too high."

    def at_stale(self, update: Update) -> None:
        """Two updates in a row that used a gradient, had it added to, and used it again."""
        stale = [leaf for leaf in update.stale if engine.story(leaf).stale_run >= 2]
        if not stale:
            return
        backward = engine.story(stale[0]).backward
        if update.optimizer is None:
            did = "this line applied the gradient of a parameter"
            clear = "set its `.grad` to None (or zero it) after this line"
        else:
            did = f"`step()` applied the gradients of {len(stale)} parameter{'s' * (len(stale) != 1)}"
            clear = f"`optimizer.zero_grad()` once per update, before {text(backward.place)}"
        self.report(
            update.place,
            f"Gradients were used twice: {did}, then `backward()` at {text(backward.place)} added to the same buffers "
            f"and they were used again ({engine.story(stale[0]).stale_run} updates in a row).",
            fix=f"{clear}. Accumulating on purpose never triggers this.",
            also=[backward.place],
        )

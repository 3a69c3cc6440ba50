"""step-without-gradient"""

from __future__ import annotations

import weakref
from typing import Any

from .. import engine
from ..books.records import Backward, Clear, Update
from ..rule import Diagnosis

# Steps without a gradient that an optimizer may take while it waits for its turn: until its first, and later.
_FIRST_TURN, _TURN = 5, 20


class StepWithoutGradient(Diagnosis):
    """`step()` was called twice in a row without a gradient on any of the optimizer's parameters: it did nothing.

    The optimizer holds other tensors than the model that is trained (it was built before the model was copied or
    replaced), or `backward()` is never reached, or `step()` comes before it.

    Broken:

        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model = copy.deepcopy(model)          # the optimizer still owns the old one
        …
        loss.backward()
        optimizer.step()

    Fixed:

        model = copy.deepcopy(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    Silent where optimizers take turns, and where no backward pass ran at all (drawing a learning-rate schedule).
    """

    name = "step-without-gradient"
    why = "an update without gradients changes nothing: the model does not learn."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._discarded: set[Any] = (
            set()
        )  # optimizers whose gradients were there, and were cleared: another diagnosis' case
        self._recorded = 0  # operations that joined a graph (counted while listening closely)
        self._seen: dict[int, tuple[int, int]] = {}  # per optimizer: passes and operations at its last step
        self._passed: dict[int, Backward | None] = {}  # per optimizer: the pass before its last empty step

    def at_discard(self, clear: Clear) -> None:
        """There was something to use, before it was cleared."""
        stories = [engine.story(leaf) for leaf in clear.leaves]
        self._discarded.update(story.owner for story in stories if story is not None)

    def near_recorded(self, node: Any, inputs: Any, output: Any) -> None:
        """Somebody computes what could be differentiated."""
        self._recorded += 1

    def at_empty_step(self, update: Update) -> None:
        """The second empty step in a row, with a forward or backward pass between."""
        story = update.story
        assert story is not None
        owner = weakref.ref(update.optimizer)
        discarded = owner in self._discarded
        self._discarded.discard(owner)
        now = self.ledger.passes, self._recorded
        idle, self._seen[id(story)] = self._seen.get(id(story)) == now, now
        passed = self._passed.get(id(story))
        self._passed[id(story)] = self.ledger.last_backward
        enough = 2
        if passed is not None and passed.used:  # somebody else's pass: this one may wait for its turn
            enough = _TURN if story.steps > story.empty_run else _FIRST_TURN
        if story.empty_run < enough or discarded or idle:
            return
        if self.session.said("loss-is-leaf", "path-cut"):
            return
        count = len(update.leaves)
        self.report(
            update.place,
            f"`step()` found no gradient on any of the optimizer's {count} parameter{'s' * (count != 1)}, "
            f"{story.empty_run} times in a row.",
            fix="see that `loss.backward()` runs before it, and that the optimizer was built from the parameters of the "
            "very model that computes the loss (after any copy, `.to()` or replacement of layers).",
        )

"""step-without-gradient"""

from __future__ import annotations

import weakref
from typing import Any

from .. import engine
from ..books.records import Backward, Clear, OptimizerStory, Update
from ..rule import Diagnosis
from ..source.places import Place

# Steps without a gradient that an optimizer may take while it waits for its turn: until its first, and later.
_FIRST_TURN, _TURN = 5, 20
_EARLY = 16  # steps that are followed so closely that a cause would be known
_CLOSELY = 3  # empty steps, after that, that are listened to before it is said


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
        self._heard: dict[int, int] = {}  # per optimizer: late empty steps that were listened to closely
        self._awake: dict[int, int] = {}  # per optimizer: how often the session was kept awake for it
        self._counted_since: dict[int, int] = {}  # per optimizer: the last rest before its empty steps
        self._pending: dict[int, tuple[Place | None, int, OptimizerStory]] = {}  # the cause of which is looked for

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
        if self._counted_since.setdefault(id(story), self.session.woke) != self.session.woke:
            self._counted_since[id(story)], story.empty_run = self.session.woke, 1  # those at rest were not all heard
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
        if 2 <= story.empty_run < enough and not (discarded or idle):
            self._stay_awake(story)
        if story.empty_run < enough or discarded or idle:
            return
        if self.session.said("loss-is-leaf", "path-cut"):
            return
        if self._is_looked_into(story):
            self._pending[id(story)] = update.place, len(update.leaves), story
            return
        self._pending.pop(id(story), None)
        self._say(update.place, len(update.leaves), story.empty_run)

    def at_exit(self) -> None:
        """The program ended while the cause was looked for."""
        for place, count, story in self._pending.values():
            if story.empty_run > 1 and not self.session.said("loss-is-leaf", "path-cut"):
                self._say(place, count, story.empty_run)

    def _is_looked_into(self, story: OptimizerStory) -> bool:
        """Late, the cause (a way that is cut, a loss that is a leaf) is known only after some steps that are listened to closely."""
        if story.steps - story.empty_run < _EARLY:
            return False
        heard = self._heard.get(id(story), 0)
        if self.session.near:
            self._heard[id(story)] = heard + 1
        else:
            self.session.begin_phase()
        return heard < _CLOSELY

    def _stay_awake(self, story: OptimizerStory) -> None:
        """At rest nobody counts empty steps: hear of the next ones, too, some times in all."""
        times = self._awake[id(story)] = self._awake.get(id(story), 0) + 1
        if times <= 2 * _TURN:
            self.session.wake()

    def _say(self, place: Place | None, count: int, times: int) -> None:
        self.report(
            place,
            f"`step()` found no gradient on any of the optimizer's {count} parameter{'s' * (count != 1)}, "
            f"{times} times in a row.",
            fix="see that `loss.backward()` runs before it, and that the optimizer was built from the parameters of the "
            "very model that computes the loss (after any copy, `.to()` or replacement of layers).",
        )

"""What the ledger writes down: backward passes, updates, clears, and the stories of leaves and optimizers."""

from __future__ import annotations

import math
import weakref
from collections import deque
from typing import Any

from ..source.places import Place

RECENT = 128  # steps of an optimizer that are kept as they are
DENSE = 96  # the first steps of an optimizer, each of which is measured
SHARE = 0.003  # of the time is given to measuring, after that
_AROUND = 100e-6  # seconds that it takes to come to a measurement, and until all runs as before
PAUSE = 4096  # steps between two measurements, at most
_HURRIED = 64  # measurements that somebody waits for
LONG = 512  # points of the whole run that are kept: when there are more, every second one goes


UNUSED, LOOKED, APPLIED = range(3)


class Backward:
    """One pass; the ledger follows those that accumulated into leaves."""

    __slots__ = (
        "born",
        "create_graph",
        "kind",
        "leaves",
        "looked_into",
        "loss",
        "missed",
        "number",
        "place",
        "retained",
        "root",
        "root_place",
        "step",
        "used",
    )

    def __init__(
        self, number: int, step: int, place: Place | None, retained: bool, create_graph: bool, used: int
    ) -> None:
        self.number = number
        self.step = step
        self.place = place
        self.retained = retained
        self.create_graph = create_graph
        self.used = used  # did the user look at one of its gradients (LOOKED), or an update use any (APPLIED)?
        self.looked_into = False  # did somebody hook a value inside the graph for it?
        self.missed = False  # did a step after it find no gradient at all? (What keeps it from its step is told then.)
        self.root_place: Place | None = None  # where the root was computed,
        self.kind = ""  # and by which operation
        self.root: weakref.ref[Any] | None = None  # its node
        self.born = 0  # the node's sequence number: older nodes have larger ones
        self.loss: float | None = None  # its value, if it has one element
        self.leaves: list[weakref.ref[Any]] | tuple[()] = ()  # who got a gradient (known only while listening closely)

    def look(self) -> None:
        """The user looks at one of its gradients."""
        self.used = self.used or LOOKED


class Story:
    """What happened to one leaf.

    consumed  an update used the gradient since it was last cleared
    fresh     a backward added to it since it was last consumed or cleared
    looked    the user read `.grad` since the last backward
    """

    __slots__ = (
        "backward",
        "consumed",
        "deposits",
        "flagged",
        "fresh",
        "frozen",
        "looked",
        "made",
        "others",
        "owner",
        "stale_run",
        "written",
    )

    def __init__(self) -> None:
        self.backward: Backward | None = None  # the last one that deposited here
        self.others: list[Backward] | None = None  # those before it whose gradients lie here, too
        self.consumed = self.fresh = self.looked = False
        self.deposits = 0
        self.written = 0  # writes to it before the first one
        self.made: Place | None = None  # where the Parameter was made
        self.flagged: tuple[bool, Place | None] | None = None  # requires_grad was last set to this, there
        self.frozen: Place | None = None  # where requires_grad was last set to False
        self.owner: weakref.ref[Any] | None = None  # the optimizer that updates it
        self.stale_run = 0  # updates in a row that used a gradient twice


class OptimizerStory:
    """What happened to one optimizer."""

    __slots__ = ("book", "empty_run", "kind", "made", "names", "pause", "stepped", "steps", "track", "untold", "writes")

    def __init__(self, made: Place | None, kind: str, book: object = None) -> None:
        self.book = book  # in which it is written: another session's is of no use
        self.made = made
        self.kind = kind  # the class
        self.names: list[str] = []  # of its parameters, for the report
        self.steps = 0
        self.stepped: Place | None = None  # where `step()` was called last, as far as it was told
        self.untold = 0  # steps that an engine at rest has counted here instead of telling them,
        self.pause = 1  # of which it may leave out so many
        self.writes = 1  # to a parameter, in each step
        self.empty_run = 0  # steps in a row without any gradient
        self.track = Track()

    def __reduce__(self) -> tuple[Any, ...]:
        """It stays behind where a program copies its optimizer, or writes it to a file, with all that it has."""
        return type(None), ()


class Update:
    """Parameters were changed: by an optimizer, or (`optimizer` is None) one leaf by hand."""

    __slots__ = ("leaves", "number", "optimizer", "place", "stale", "story", "with_gradient")

    def __init__(self, number: int, place: Place | None, optimizer: Any, story: OptimizerStory | None) -> None:
        self.number, self.place, self.optimizer, self.story = number, place, optimizer, story
        self.leaves: list[Any] = []  # all that it owns
        self.with_gradient = 0
        self.stale: list[Any] = []  # leaves whose gradient had been used before, and was added to since


class Clear:
    """Gradients were cleared: `unused` are the backward passes that no update and no reader had any use of."""

    __slots__ = ("finite", "leaves", "place", "unused")

    def __init__(self, place: Place | None, leaves: list[Any], unused: list[Backward], finite: bool) -> None:
        self.place, self.leaves, self.unused = place, leaves, unused
        self.finite = finite  # were the unused gradients finite? (known only where there are any)


class Sample:
    """One step of one optimizer: the last loss, and the squared norm of the gradient of each of its leaves.

    `squares` follows the order of `update.leaves`; None where there is no gradient. `total` is the norm of all of them.
    """

    __slots__ = ("backward", "loss", "number", "squares", "step", "total")

    def __init__(self, update: Update, squares: list[float | None], backward: Backward | None) -> None:
        self.number = update.story.steps if update.story is not None else 0  # of this optimizer
        self.step = update.number
        self.squares = squares
        total = sum([s for s in squares if s is not None])
        self.total = math.sqrt(total) if total >= 0.0 else math.nan
        self.backward = backward
        self.loss = backward.loss if backward is not None else None

    @property
    def finite(self) -> bool:
        """Are all gradients finite, as far as their squares tell?"""
        return self.total < math.inf


class Track:
    """The samples of one optimizer."""

    __slots__ = ("due", "every", "hurried", "last", "long", "pause", "recent")

    def __init__(self) -> None:
        self.recent: deque[Sample] = deque(maxlen=RECENT)
        self.long: list[Sample] = []
        self.every = 1
        self.due = 0  # the step from which on to measure again
        self.pause = PAUSE  # steps between two measurements, at most
        self.hurried = 0  # the step until which somebody waits for them
        self.last = (0.0, 0)  # when the last measurement ended, and at which step

    def is_due(self, steps: int) -> bool:
        """Measure at this step? Always in the first steps; then as often as it costs next to nothing."""
        return steps <= DENSE or steps >= self.due

    def hurry(self, steps: int, pause: int) -> None:
        """Somebody waits for the next steps: measure one in so many at least. Not for ever: what was waited for may not come."""
        self.pause, self.hurried = pause, steps + _HURRIED * pause
        self.due = min(self.due, steps + pause)

    def spent(self, begin: float, end: float, steps: int) -> None:
        """A measurement took from `begin` to `end`: put the next one so far off that they take less than `SHARE` of the time."""
        if steps > self.hurried:
            self.pause = PAUSE
        before, at = self.last
        if at and steps > at:
            whole = max(0.0, begin - before) / (steps - at)  # of one step; below 0 if another thread made it
            self.due = steps + min(self.pause, 1 + int((end - begin + _AROUND) / (whole * SHARE + 1e-9)))
        self.last = (end, steps)

    def add(self, sample: Sample) -> None:
        """Keep a sample."""
        self.recent.append(sample)
        if sample.number % self.every == 0:
            self.long.append(sample)
            if len(self.long) > LONG:
                self.long = self.long[::2]
                self.every *= 2

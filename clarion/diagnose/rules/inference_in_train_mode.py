"""inference-in-train-mode"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

from .. import engine
from ..finding import INFO
from ..graph.layers import called_on, calls, is_trained, trainer_of
from ..rule import Diagnosis
from ..source.places import Place, here, is_result_dropped

_SAMPLES = 3  # passes over the same input: Monte-Carlo dropout
_ATTENTION = 2_000  # operations after a new line that are heard closely
_PER_STEP = 64  # calls that are looked at without a step between
_GLANCE = 64  # numbers of an input by which it is known again


class InferenceInTrainMode(Diagnosis):
    """A model that is being trained was evaluated without gradients, and its dropout was at work.

    `torch.no_grad()` switches recording off; it does not switch dropout off, nor batch normalisation to its running
    statistics. That is what `eval()` is for.

    Broken:

        with torch.no_grad():
            for x, y in validation:
                total += criterion(model(x), y).item()

    Fixed:

        model.eval()
        with torch.no_grad():
            for x, y in validation:
                total += criterion(model(x), y).item()
        model.train()

    A remark only. Silent for Monte-Carlo dropout (several passes over the same input, a `train()` just for them, or dropout
    layers alone in train mode), where nobody looks at the result (statistics of batch normalisation are taken anew), and
    where training uses it: targets, pseudo-labels, an agent that acts.
    """

    name = "inference-in-train-mode"
    level = INFO
    why = "every prediction is a random one: scores are worse than the model is, and differ from call to call."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._lines: dict[tuple[Place, Place | None], _Line] = {}  # by the call, and the train() just before it
        self._feeding: set[Place] = set()  # where recording was switched off for what training then used
        # Modules by identity, on which train() was called: how many updates there were before it, and its line.
        self._asked: dict[int, tuple[int, Place | None]] = {}
        self._now: tuple[int, Place | None] = (0, None)  # what is true of the call of train() or eval() that is running
        self._for_training: set[Place | None] = set()  # lines of train() that updates came after
        self._last: tuple[int, int] = (0, 0)  # updates so far, calls looked at since

    def on_training_set(self, module: Any, training: bool) -> None:
        """Whoever calls `train()` wants train mode: for training, or just before an evaluation on purpose."""
        if called_on() is module:  # not for a module inside that one
            self._now = self.ledger.updates, here()
        before = self._asked.get(id(module), self._now)
        if before[0] != self._now[0]:
            self._for_training.add(before[1])
        if training:
            self._asked[id(module)] = self._now
        else:
            self._asked.pop(id(module), None)

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """Does training use what was computed without gradients?"""
        if self._lines and engine.requires_grad(outs[0]):
            for value in inputs:
                switch = self.ledger.unrecorded.switch_of(value)
                if switch is not None:
                    self._feeding.add(switch.place)

    def on_dropped(self, tensor: Any, p: float) -> None:
        """Dropout was sampled: without gradients?"""
        if engine.recording():
            return
        self.session.steps()  # at rest they are counted when somebody asks
        updates, count = self._last
        if updates != self.ledger.updates:
            updates, count = self.ledger.updates, 0
        self._last = updates, count + 1
        if updates >= 2 and count < _PER_STEP:
            self._look(sys._getframe(1), p)

    def _look(self, frame: FrameType, p: float) -> None:
        switch = self.ledger.switches.current
        outermost = None
        for outermost in calls(frame):  # noqa: B007  (the last one is used)
            pass
        if switch is None or outermost is None:
            return
        call, module = outermost, outermost.module
        if call.by_library or call.holds(switch, frame):  # in the latter case it is part of its training
            return
        updates = self.ledger.updates
        place = call.place
        if place is not None and module.training and is_trained(module):
            since, asked = self._asked.get(id(module), (-1, None))
            key = place, asked if since == updates else None
            optimizer = trainer_of(module)
            line = self._lines.get(key)
            if line is None:
                line = self._lines[key] = _Line(switch.place, type(module).__name__, p)
                self.session.attend(_ATTENTION)  # who uses the result?
            line.add(updates if optimizer is None else optimizer._story.steps, updates, call)

    def at_exit(self) -> None:
        """Only now is it known what was done with the results; and a remark can wait."""
        self._for_training |= {line for updates, line in self._asked.values() if updates != self.ledger.updates}
        for (place, asked), line in self._lines.items():
            several = line.groups >= 2 or line.updates == self.ledger.updates
            wanted = (asked is not None and asked not in self._for_training) or is_result_dropped(place)
            wanted = wanted or line.switch in self._feeding or line.is_acting or line.samples >= _SAMPLES
            if several and not wanted:
                self._say(place, line)

    def _say(self, place: Place, line: _Line) -> None:
        self.report(
            place,
            f"{line.model} is in train mode here, with recording off, after {line.steps} training steps: its dropout "
            f"(p={line.p:g}) sampled new masks for what looks like an evaluation.",
            fix="`model.eval()` before the evaluation, `model.train()` after it.",
        )


class _Line:
    """Calls of a trained model in train mode and without gradients, at one line; between two steps they are one group."""

    def __init__(self, switch: Place, model: str, p: float) -> None:
        self.switch, self.model, self.p = switch, model, p
        self.groups = 0
        self.close = 0  # groups that came one step after the one before
        self.steps = self.updates = -2
        self.samples = 0  # the most passes over one input
        self._rows = 0  # of the largest input
        self._passes: dict[Any, tuple[weakref.ref[Any], int]] = {}  # of this group, by their inputs
        self._call: Any = None

    @property
    def is_acting(self) -> bool:
        """Is it one input at a time, in every step: an agent that acts while it learns?"""
        return self._rows <= 1 and self.close * 2 > self.groups - 1

    def add(self, steps: int, updates: int, call: Any) -> None:
        """One more mask was drawn."""
        this = call.this
        if this is self._call:
            return
        self._call = this
        values = list(_tensors(call.given or ()))
        if values:
            shape = engine.shape(values[0])
            self._rows = max(self._rows, shape[0] if len(shape) > 1 else 1)
        if steps != self.steps:
            self.groups += 1
            self.close += steps - self.steps == 1
            self.steps, self.updates = steps, updates
            self._passes = {}
        if values:
            self._count(values)

    def _count(self, values: list[Any]) -> None:
        inputs = tuple(_glance(engine.array(value)) for value in values)
        first, count = self._passes.get(inputs, (weakref.ref(values[0]), 0))
        if engine.size(values[0]) > 1 or len(values) > 1 or first() is values[0]:  # one number may come again by chance
            self._passes[inputs] = first, count + 1
            self.samples = max(self.samples, count + 1)


def _tensors(value: Any) -> Iterator[Any]:
    if engine.is_tensor(value):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _tensors(each)


def _glance(array: Any) -> tuple[Any, ...]:
    """A shape and some of the numbers: enough to know an array again that a loader has made anew."""
    step = max(1, array.size // _GLANCE)
    return (array.shape, array.flat[::step].tobytes())

"""inference-in-train-mode"""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from ...core import modes
from ..finding import INFO
from ..layers import calls, is_trained, place_outside, trainer_of
from ..places import Place
from ..rule import Diagnosis

_SAMPLES = 3  # passes over the same input: Monte-Carlo dropout
_PER_STEP = 64  # calls that are looked at without a step between


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

    A remark only. Silent for Monte-Carlo dropout (several passes over the same input, a `train()` just before, or dropout
    layers alone in train mode), and where every training step computes something without gradients: targets, pseudo-labels.
    """

    name = "inference-in-train-mode"
    level = INFO
    why = "every prediction is a random one: scores are worse than the model is, and differ from call to call."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._lines: dict[Place, _Line] = {}
        self._asked: weakref.WeakKeyDictionary[Any, int] = (
            weakref.WeakKeyDictionary()
        )  # train() was called after updates
        self._last: tuple[int, int] = (0, 0)  # updates so far, calls looked at since

    def on_training_set(self, module: Any, training: bool) -> None:
        """Whoever calls `train()` wants train mode."""
        if training:
            self._asked[module] = self.ledger.updates

    def on_dropped(self, tensor: Any, p: float) -> None:
        """Dropout was sampled: without gradients?"""
        if modes.recording():
            return
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
        module, call = outermost
        inner: FrameType | None = frame
        while inner is not None and inner is not call:
            if id(inner) == switch.frame:
                return  # switched off inside the model: part of its training
            inner = inner.f_back
        updates = self.ledger.updates
        place = place_outside(call)
        if place is not None and module.training and self._asked.get(module) != updates and is_trained(module):
            optimizer = trainer_of(module)
            line = self._lines.setdefault(place, _Line())
            if line.add(updates if optimizer is None else optimizer._story.steps, updates, call):
                line.p, line.model = p, type(module).__name__
            if line.groups >= 2 and not line.is_part_of_training:
                self._say(place, line)

    def at_exit(self) -> None:
        """One evaluation after the last step is known for one only now."""
        for place, line in self._lines.items():
            if not line.is_part_of_training and (line.groups >= 2 or line.updates == self.ledger.updates):
                self._say(place, line)

    def _say(self, place: Place, line: _Line) -> None:
        if line.samples >= _SAMPLES:
            return
        self.report(
            place,
            f"{line.model} is in train mode here, with recording off, after {line.steps} training steps: its dropout "
            f"(p={line.p:g}) sampled new masks for what looks like an evaluation.",
            fix="`model.eval()` before the evaluation, `model.train()` after it.",
        )


class _Line:
    """Calls of a trained model in train mode and without gradients, at one line; between two steps they are one group."""

    def __init__(self) -> None:
        self.groups = 0
        self.close = 0  # groups that came one step after the one before
        self.steps = self.updates = -2
        self.samples = 0  # the most passes over one input
        self.p, self.model = 0.0, ""
        self._same = 0
        self._call: Any = None
        self._input: weakref.ref[Any] | None = None

    @property
    def is_part_of_training(self) -> bool:
        """Does it belong to every step, as targets and pseudo-labels do?"""
        return self.close * 2 > self.groups - 1 and self.close > 0

    def add(self, steps: int, updates: int, call: FrameType) -> bool:
        """One more mask was drawn; is it a new call?"""
        known = call.f_locals
        this = known.setdefault(
            "a call of clarion", object()
        )  # frames have no identity that outlives them: lend them one
        if this is self._call:
            return False
        self._call = this
        value = next((v for v in known.get("args", ()) if hasattr(v, "_array")), None)
        before = self._input() if self._input is not None else None
        self._same = self._same + 1 if value is not None and value is before and steps == self.steps else 1
        self.samples = max(self.samples, self._same)
        self._input = None if value is None else weakref.ref(value)
        if steps != self.steps:
            self.groups += 1
            self.close += steps - self.steps == 1
            self.steps, self.updates = steps, updates
        return True

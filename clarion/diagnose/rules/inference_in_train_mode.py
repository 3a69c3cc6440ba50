"""inference-in-train-mode"""

from __future__ import annotations

import sys
import weakref
from types import FrameType
from typing import Any

from ...core import modes
from ..finding import INFO
from ..layers import calls, is_library, is_trained, place_outside, trainer_of
from ..places import Place
from ..rule import Diagnosis

_SAMPLES = 3  # passes over the same input: Monte-Carlo dropout
_ATTENTION = 2_000  # operations after a new line that are heard closely
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
    layers alone in train mode), and where training uses the result: targets, pseudo-labels, an agent that acts.
    """

    name = "inference-in-train-mode"
    level = INFO
    why = "every prediction is a random one: scores are worse than the model is, and differ from call to call."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._lines: dict[Place, _Line] = {}
        self._feeding: set[Place] = set()  # where recording was switched off for what training then used
        self._asked: dict[int, int] = {}  # modules by identity: how many updates there were when train() was called
        self._last: tuple[int, int] = (0, 0)  # updates so far, calls looked at since

    def on_training_set(self, module: Any, training: bool) -> None:
        """Whoever calls `train()` wants train mode."""
        if training:
            self._asked[id(module)] = self.ledger.updates

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """Does training use what was computed without gradients?"""
        if self._lines and outs[0]._rg:
            for value in inputs:
                switch = self.ledger.unrecorded.switch_of(value)
                if switch is not None:
                    self._feeding.add(switch.place)

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
        if call.f_back is None or is_library(call.f_back.f_code):
            return  # called by somebody else, who knows what for: checkpointing
        inner: FrameType | None = frame
        while inner is not None and inner is not call:
            if id(inner) == switch.frame:
                return  # switched off inside the model: part of its training
            inner = inner.f_back
        updates = self.ledger.updates
        place = place_outside(call)
        if place is not None and module.training and self._asked.get(id(module)) != updates and is_trained(module):
            optimizer = trainer_of(module)
            line = self._lines.get(place)
            if line is None:
                line = self._lines[place] = _Line(switch.place, type(module).__name__, p)
                self.session.attend(_ATTENTION)  # who uses the result?
            line.add(updates if optimizer is None else optimizer._story.steps, updates, call)

    def at_exit(self) -> None:
        """Only now is it known what was done with the results; and a remark can wait."""
        for place, line in self._lines.items():
            several = line.groups >= 2 or line.updates == self.ledger.updates
            if several and line.switch not in self._feeding and not line.is_acting and line.samples < _SAMPLES:
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
        self._same = 0
        self._call: Any = None
        self._input: weakref.ref[Any] | None = None

    @property
    def is_acting(self) -> bool:
        """Is it one input at a time, in every step: an agent that acts while it learns?"""
        return self._rows <= 1 and self.close * 2 > self.groups - 1

    def add(self, steps: int, updates: int, call: FrameType) -> None:
        """One more mask was drawn."""
        known = call.f_locals
        # Frames have no identity that outlives them: lend this one something of its own.
        this = known.setdefault("a call of clarion", object())
        if this is self._call:
            return
        self._call = this
        value = next((v for v in known.get("args", ()) if hasattr(v, "_array")), None)
        before = self._input() if self._input is not None else None
        self._same = self._same + 1 if value is not None and value is before and steps == self.steps else 1
        self.samples = max(self.samples, self._same)
        if value is not None:
            self._input = weakref.ref(value)
            self._rows = max(self._rows, value._array.shape[0] if value._array.ndim > 1 else 1)
        if steps != self.steps:
            self.groups += 1
            self.close += steps - self.steps == 1
            self.steps, self.updates = steps, updates

"""training-in-eval-mode"""

from __future__ import annotations

import weakref
from typing import Any

from .. import engine
from ..books.records import PAUSE, Sample, Update
from ..books.resting import hurry, steps_of
from ..graph.layers import called_on, depends_on_mode, is_frozen_alone, trainer_of
from ..graph.names import listed
from ..rule import Diagnosis
from ..source.places import Place, here, text

_STEPS = 20  # in eval mode, before it is said
_PAUSE = 8  # of them, at most, pass without a look


class TrainingInEvalMode(Diagnosis):
    """The model was put into eval mode, and training went on without `train()`.

    In eval mode dropout does nothing and batch normalisation uses its running statistics, and does not update them. The
    loss often falls faster than before; the model that comes out generalises worse.

    Broken:

        def validate(model):
            model.eval()
            with torch.no_grad():
                …

        for epoch in range(epochs):
            for x, y in loader:          # in eval mode from the second epoch on
                …
            validate(model)

    Fixed:

        for epoch in range(epochs):
            model.train()
            for x, y in loader:
                …
            validate(model)

    Silent where a model was in eval mode from the first step of its optimizer on, where single layers are frozen
    (`bn.eval()`), and where what is in eval mode is not trained: a teacher, a moving average, a frozen part.
    """

    name = "training-in-eval-mode"
    why = "dropout is off and batch normalisation no longer follows the data: the model that is trained is another one."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Since when a layer is in train mode: the optimizer of its model then, and how many steps that had made.
        self._since: weakref.WeakKeyDictionary[Any, tuple[int, int]] = weakref.WeakKeyDictionary()
        self._open: list[_Phase] = []

    def on_training_set(self, layer: Any, training: bool) -> None:
        """A module, and all that is in it, one after the other, are put into a mode."""
        if layer.training is training or not depends_on_mode(layer):
            return
        module = called_on()
        optimizer = trainer_of(module)
        if training:
            for phase in self._open:
                phase.layers.discard(id(layer))
            self._open = [phase for phase in self._open if phase.layers]
            if optimizer is not None and not self._open:
                optimizer._story.track.pause = PAUSE
            self._since[layer] = id(optimizer), 0 if optimizer is None else steps_of(self.ledger, optimizer)
        elif optimizer is not None and not is_frozen_alone(module) and self._steps(layer, optimizer) > 0:
            place = here()
            if not self._open or self._open[-1].module() is not module or self._open[-1].place != place:
                self._open.append(_Phase(module, place, optimizer, steps_of(self.ledger, optimizer)))
                hurry(optimizer, _PAUSE)
            self._open[-1].layers.add(id(layer))
        self.session.listen("at_gradients", self, self._stepped, bool(self._open))

    def _steps(self, layer: Any, optimizer: Any) -> int:
        """How many steps this optimizer has made while the layer was in train mode."""
        whose, steps = self._since.get(layer, (0, 0))
        made = steps_of(self.ledger, optimizer)
        return made - steps if whose == id(optimizer) else made

    def _stepped(self, update: Update, sample: Sample) -> None:
        """A step: how long has its model been in eval mode?"""
        if update.story is None:
            return
        for phase in tuple(self._open):
            if phase.optimizer() is not update.optimizer:
                continue
            steps = update.story.steps - phase.steps
            if steps >= _STEPS:
                self._open.remove(phase)
                update.story.track.pause = PAUSE
                self._say(phase, update, steps)

    def _say(self, phase: _Phase, update: Update, steps: int) -> None:
        module = phase.module()
        if module is None or not any(
            engine.requires_grad(p) and engine.grad(p) is not None for p in module.parameters()
        ):
            return  # it is gone, or frozen
        names = [
            f"{name} ({type(layer).__name__})" if name else type(layer).__name__
            for name, layer in module.named_modules()
            if id(layer) in phase.layers and not layer.training
        ]
        if names:
            self.report(
                phase.place,
                f"This call put {listed(names)} into eval mode after {phase.steps} training "
                f"step{'s' * (phase.steps != 1)}, and `step()` at {text(update.place)} has been called {steps} times since "
                "without a `train()`.",
                fix="call `model.train()` again before training goes on: at the beginning of every epoch, or after "
                "every evaluation.",
                also=[update.place],
            )


class _Phase:
    """A call of `eval()` on a module that was being trained."""

    def __init__(self, module: Any, place: Place | None, optimizer: Any, steps: int) -> None:
        self.module = weakref.ref(module)
        self.place = place
        self.layers: set[int] = set()  # those of its layers, by identity, that were trained in train mode
        self.optimizer = weakref.ref(optimizer)
        self.steps = steps  # that its optimizer had made by then

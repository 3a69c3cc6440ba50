"""dead-units"""

from __future__ import annotations

import cmath
import weakref
from time import perf_counter
from typing import Any

import numpy as np

from .. import engine
from ..graph.names import names_of
from ..graph.units import FEATURE, OUTPUT, Activation, activations, weight_of
from ..rule import Diagnosis
from ..source.places import Place

_BATCHES = 50  # in which a unit has to be silent
_ROWS = 200  # samples (and positions) that they have to hold together
_SOON, _LATER, _MOST = 8, 64, 1024  # passes between two looks: at least, at most, and where there is nothing to see
_FIRST_STEPS = 400  # after these, it is seldom that units die
_SHARE = 0.01  # of the time is given to looking
# Of a layer that was alive: where the data fill a small part of their space (a critic's) some units go, little by little.
_MOST_OF = 3 / 4
_FEW_OUTPUTS = 64  # of so many an eighth may not be dead; more are like a hidden layer (images, counts)


class _Layer:
    """The units of one layer that have not fired since it is watched."""

    __slots__ = ("batches", "is_output", "key", "place", "rows", "silent", "weight")

    def __init__(self, key: Any, units: int, place: Place | None) -> None:
        self.key, self.place = key, place
        self.silent = np.ones(units, bool)
        self.batches = self.rows = 0
        self.is_output = False
        self.weight: weakref.ref[Any] | None = None


class DeadUnits(Diagnosis):
    """Most units of a ReLU layer never fire, or outputs of the model are stuck at zero.

    Where a ReLU gives zero, its gradient is zero, too: a unit that is below zero for every sample gets no gradient and
    stays there for ever. One update that was too large, or a bias that starts far below zero, is enough. A ReLU on the
    outputs of a model cannot give what is negative, and the outputs that fall below zero are lost.

    Broken:

        logits = torch.relu(self.out(h))

    Fixed:

        logits = self.out(h)

    Said if more than half of the units of a layer (three quarters, if it was alive before; of a few outputs: an eighth) have not been
    positive in 50 batches.
    Sparse activations, where other units fire for other samples, are as they should be; so are margins and penalties.
    """

    name = "dead-units"
    why = "they get no gradient any more and never come back; the model trains with what is left of it."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._layers: dict[Any, _Layer] = {}
        self._lively: set[Any] = set()  # layers, by their keys, most of whose units have fired once
        self._wait = 1  # passes until the next look
        self._pause = _SOON
        self._last = (0.0, 0)  # when the last look ended, and after how many passes
        self._woke = -1  # the last step of the rest before it

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """Look at the activations of this graph, now and then; at every pass while something is suspicious."""
        self._wait -= 1
        if engine.knows_all_nodes and self._woke != self.session.woke:
            self._woke, self._wait = self.session.woke, 0  # what wakes cost is measured: once in each is seldom enough
        if self._wait > 0 or not accumulates:
            return
        root = tensors[0]
        broken = engine.is_tensor(root) and engine.size(root) == 1 and not cmath.isfinite(engine.number(root))
        if engine.node_of(root) is None or self.session.said(self.name) or broken:
            self._wait = _LATER
            return
        begin = perf_counter()
        seen = {id(layer): layer for layer in map(self._look, activations(root)) if layer is not None}
        suspicious = False
        for layer in reversed(seen.values()):  # the first layer first: the next ones may follow from it
            suspicious |= self._judge(layer)
        if suspicious:
            self._wait = 1
            self.session.wake()
        elif seen:
            self._wait = self._until_next(begin)
        else:
            self._pause = min(2 * self._pause, _MOST)
            self._wait = self._pause

    def _until_next(self, begin: float) -> int:
        """Passes until the next look, so that all of them take little of the time."""
        end, passes = perf_counter(), self.ledger.passes
        between = (begin - self._last[0]) / max(passes - self._last[1], 1)
        self._last = end, passes
        if self.ledger.step > _FIRST_STEPS:
            return _LATER
        return max(_SOON, min(_LATER // 2, int((end - begin) / (_SHARE * between + 1e-9))))

    def _look(self, activation: Activation) -> _Layer | None:
        """Which units have fired by now? A layer may be used several times in one pass."""
        if activation.role < FEATURE:
            return None
        values, axis = activation.values, activation.axis
        weight, place = weight_of(activation.layer), activation.node.place
        key = place, id(weight)  # two sides of one layer (a concatenated ReLU) are two lines
        layer = self._layers.get(key)
        if layer is None or len(layer.silent) != values.shape[axis]:
            layer = self._layers[key] = _Layer(key, values.shape[axis], place)
        layer.weight = None if weight is None else weakref.ref(weight)
        layer.is_output = activation.role == OUTPUT
        layer.rows += values.size // max(values.shape[axis], 1)
        if layer.silent.any():
            part = values if layer.silent.all() else np.compress(layer.silent, values, axis)
            fired = part.max(axis=tuple(i for i in range(values.ndim) if i != axis), initial=0) > 0
            layer.silent[np.flatnonzero(layer.silent)[fired]] = False
        return layer

    def _judge(self, layer: _Layer) -> bool:
        """True while too few units have fired to be at ease; speaks if that lasts."""
        layer.batches += 1
        units, dead = len(layer.silent), int(layer.silent.sum())
        if layer.is_output and units <= _FEW_OUTPUTS:
            least = max(units / 8, 1)
        else:
            least = _MOST_OF * units if layer.key in self._lively else (units + 1) / 2
        if dead < least:
            self._lively.add(layer.key)
            if self._layers.get(layer.key) is layer:  # a line may rectify layers of several widths
                del self._layers[layer.key]  # from now on, again
            return False
        if layer.batches < _BATCHES or layer.rows < _ROWS:
            return True
        if not self.session.said(self.name, "non-finite-forward", "non-finite-backward"):
            self._say(layer, units, dead)
        return False

    def suspects(self, batches: int) -> bool:
        """Is there a layer most of whose units have not fired in so many batches?"""
        return any(layer.batches >= batches for layer in self._layers.values())

    def _say(self, layer: _Layer, units: int, dead: int) -> None:
        weight = None if layer.weight is None else layer.weight()
        after = "" if weight is None else f" after `{names_of(self.ledger, [weight])[0]}`"
        self.report(
            layer.place,
            f"{dead} of the {units} units of this activation{after} gave no positive value in {layer.batches} batches "
            f"({layer.rows} rows): their gradient is zero.",
            fix="leave the activation off the outputs (F.softplus(x) if they have to be positive)."
            if layer.is_output
            else "a smaller learning rate, biases that start at 0, nn.init.kaiming_normal_(weight, nonlinearity='relu'); or an "
            "activation that is nowhere quite flat: nn.LeakyReLU(0.01), nn.GELU().",
        )

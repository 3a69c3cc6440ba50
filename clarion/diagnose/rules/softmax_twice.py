"""softmax-twice"""

from __future__ import annotations

import math
import weakref
from collections import Counter
from typing import Any

import numpy as np

from .. import engine
from ..graph.paths import origin
from ..graph.reach import operation
from ..graph.traits import having
from ..rule import Diagnosis
from ..source.places import Place, Where, here, text

# What may lie between a softmax and a loss if the values still are probabilities (they are looked at).
_STILL_PROBABILITIES = having("rearranges arithmetic clamps selects total")
_TIMES = 3  # losses in a row whose input consists of probabilities
_STILL_SIGMOID = having("rearranges clamps")


class SoftmaxTwice(Diagnosis):
    """A loss that applies softmax (or sigmoid) itself was given probabilities.

    `cross_entropy` takes scores as they are (logits). Of probabilities, which lie between 0 and 1, its own softmax makes
    something nearly uniform: with K classes the loss cannot fall below ln(1 + (K-1)/e), however good the model is, and
    gradients are small. The same goes for `binary_cross_entropy_with_logits` after a sigmoid. `nll_loss` takes
    logarithms of probabilities: of probabilities it makes a loss between -1 and 0.

    Broken:

        return F.softmax(self.fc(x), dim=1)          # in forward
        …
        loss = F.cross_entropy(model(x), y)

    Fixed:

        return self.fc(x)
        …
        loss = F.cross_entropy(model(x), y)
        probabilities = model(x).softmax(dim=1)      # where they are wanted

    Silent for `log_softmax` before `cross_entropy` (it changes nothing), for the logarithm of a softmax before `nll_loss`,
    for a softmax over another dimension, and for probabilities as targets.
    """

    name = "softmax-twice"
    why = "the second one flattens the scores: the loss has a floor above zero, and gradients are small. It trains, badly."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Values without a graph that a softmax or sigmoid gave, by id: which, and where.
        self._made: dict[int, tuple[weakref.ref[Any], str, Place | None]] = {}
        self._probable: Counter[Place | None] = Counter()  # per line: losses in a row whose input adds up to one

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran without being recorded: does it give probabilities, or hand them on?"""
        if engine.requires_grad(outs[0]) or not inputs:
            return
        if op.name in ("softmax", "sigmoid"):
            self._remember(outs[0], op.name, here())
        elif op.moves and self._made and (known := self._known(inputs[0])) is not None:
            self._remember(outs[0], *known)

    def _remember(self, value: Any, name: str, place: Place | None) -> None:
        key, made = id(value), self._made
        made[key] = weakref.ref(value, lambda _: made.pop(key, None)), name, place

    def _known(self, value: Any) -> tuple[str, Place | None] | None:
        known = self._made.get(id(value))
        return known[1:] if known is not None and known[0]() is value else None

    def near_loss(self, name: str, input: Any, target: Any) -> None:
        """A loss of class scores was called: are they probabilities?"""
        node = engine.node(input)
        if node is None or not engine.recording():
            self._unrecorded(name, input)
            return
        if name == "nll_loss":
            self._nll(input, node)
        elif name == "cross_entropy":
            self._cross_entropy(input)
        else:
            self._binary(name, input)

    def _unrecorded(self, name: str, input: Any) -> None:
        """In an evaluation: the same, as far as it can be told without a graph."""
        known = self._known(input)
        array = engine.array(input) if known is not None else None
        if known is None or array is None or not array.size or not self.ledger.updates:
            return
        source, place = known
        wanted = "sigmoid" if name not in ("cross_entropy", "nll_loss") else "softmax"
        if source == wanted and (source == "sigmoid" or (_classes(input) > 1 and _adds_up_to_one(array))):
            what = "logarithms of probabilities" if name == "nll_loss" else "scores"
            self._say(
                place,
                f"`{name}` wants {what}, and was given the result of a {source} ({text(place)}): what this evaluation "
                "says of the model is not its loss.",
                f"give it what the loss of the training gets: leave out the {source} at {text(place)}.",
                why="losses of training and evaluation cannot be compared, and the best epoch may not be the best.",
            )

    def _cross_entropy(self, input: Any) -> None:
        source = _softmax_behind(input) or _sigmoid_behind(input)
        classes = _classes(input)
        floor = math.log(1 + (classes - 1) / math.e) if classes > 1 else 0.0
        if source is None and classes > 2 and engine.op(engine.node(input)) is None:
            self._look_at_values(input, floor)
        if source is None or classes < 2:
            return
        self._say(
            source.place,
            f"`cross_entropy` applies a softmax, and its input is the result of a {operation(source)} already "
            f"({text(source.place)}): with {classes} classes the loss cannot fall below ln(1 + {classes - 1}/e) = {floor:.3f}.",
            f"give it the scores: leave out the {operation(source)} at {text(source.place)}, and apply it only where "
            "probabilities are wanted.",
        )

    def _look_at_values(self, input: Any, floor: float) -> None:
        """What comes out of a compiled region or a custom Function tells nothing of its past: do its values?"""
        array, place = engine.array(input), here()
        probable = array.size and array.ndim > 1 and array.shape[0] > 1 and _adds_up_to_one(array)
        times = self._probable[place] = self._probable[place] + 1 if probable else 0
        if times == _TIMES:
            self._say(
                place,
                f"`cross_entropy` applies a softmax, and its input consists of probabilities already (every row adds up to 1, "
                f"{times} times in a row): with {_classes(input)} classes the loss cannot fall below {floor:.3f}.",
                "give it the scores, and apply softmax only where probabilities are wanted.",
            )

    def _binary(self, name: str, input: Any) -> None:
        source = _sigmoid_behind(input, ("sigmoid", "softmax"))
        if source is not None:
            self._say(
                source.place,
                f"`{name}` applies a sigmoid, and its input is the result of a {operation(source)} already "
                f"({text(source.place)}): it sees probabilities between 0.5 and 0.731 only, and the loss cannot fall below "
                "0.313 for a positive and 0.693 for a negative.",
                f"give it the scores: leave out the {operation(source)} at {text(source.place)} (or use "
                "`binary_cross_entropy`, which takes probabilities).",
            )

    def _nll(self, input: Any, node: Any) -> None:
        logarithm = origin(node, "log_softmax".__eq__)
        if logarithm is not None:
            before = logarithm.edges[0]
            if operation(before) == "softmax" and engine.dimension(before) == engine.dimension(logarithm):
                self._say(
                    before.place,
                    f"The scores of this loss went through a softmax at {text(before.place)} and through a log_softmax at "
                    f"{text(logarithm.place)}: the loss cannot fall below {_floor(input):.3f}.",
                    f"leave out the softmax at {text(before.place)}.",
                )
            return
        source = _softmax_behind(input) or _sigmoid_behind(input)
        if source is not None and _classes(input) > 1:
            self._say(
                source.place,
                f"`nll_loss` wants logarithms of probabilities, and was given the result of a {operation(source)} "
                f"({text(source.place)}): the loss is minus a mean probability, between -1 and 0, not a likelihood.",
                f"`log_softmax` instead of the {operation(source)} at {text(source.place)}; or scores, and `cross_entropy`.",
                why="the gradient of a probability vanishes where the model is confidently wrong. It trains, badly.",
            )

    def _say(self, source: Where, what: str, fix: str, why: str | None = None) -> None:
        self.report(here(), what, fix=fix, also=[source], why=why)


def _classes(input: Any) -> int:
    shape = engine.shape(input)
    return int(shape[min(len(shape) - 1, 1)]) if len(shape) else 0


def _floor(input: Any) -> float:
    return math.log(1 + (_classes(input) - 1) / math.e)


def _softmax_behind(input: Any) -> Any:
    """The softmax that an input comes from, if along the dimension of the classes it still adds up to one."""
    found = origin(engine.node(input), "softmax".__eq__, _STILL_PROBABILITIES)
    array = engine.array(input) if found is not None else None  # (values are read last: on a GPU that waits for it)
    if array is None or not array.size or array.dtype.kind != "f" or not _adds_up_to_one(array):
        return None
    return found


def _sigmoid_behind(input: Any, names: tuple[str, ...] = ("sigmoid",)) -> Any:
    """The sigmoid that all of an input comes from."""
    found = origin(engine.node(input), names.__contains__, _STILL_SIGMOID)
    array = engine.array(input) if found is not None else None
    if array is None or not array.size or not (array.min() >= 0 and array.max() <= 1):
        return None
    return found


def _adds_up_to_one(array: Any) -> bool:
    total = array.sum(axis=min(array.ndim - 1, 1), dtype=np.float64)
    near = 0.02 if array.dtype.itemsize < 4 else 1e-3
    return bool(array.min() >= 0 and np.abs(total - 1).max() < near)

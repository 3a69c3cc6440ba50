"""softmax-over-one"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..graph.reach import operation
from ..rule import Diagnosis
from ..source.places import Place, here

_AFTER = 16  # a curriculum may begin with sequences of one element
_STEPS = 3
_ATTENTION = "scaled_dot_product_attention"
_BY_HAND = {"div": "sum", "sub": "logsumexp"}  # what is normalised by what

_Key = tuple[Place, int, int]  # a line, the dimension, and how many dimensions there are


class SoftmaxOverOne(Diagnosis):
    """Softmax runs over a dimension of size 1: its result is 1, whatever goes in.

    Nothing before it gets a gradient through it. Mostly the wrong dimension is given; or a classifier with one output
    was meant for a sigmoid.

    Broken:

        scores = self.score(states)                  # (batch, time, 1)
        weights = F.softmax(scores, dim=-1)          # over the 1

    Fixed:

        weights = F.softmax(scores, dim=1)           # over time

    Silent where the dimension has other sizes at times: attention over a sequence that happens to have one element; and
    where a library that is installed chooses the dimension.
    """

    name = "softmax-over-one"
    why = "the result is 1 (its logarithm 0) whatever goes in: what comes before it learns nothing through it."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._lines: dict[_Key, _Line | None] = {}  # None once there was more than one element

    def near_loss(self, name: str, input: Any, target: Any) -> None:
        """Cross entropy normalises over the classes."""
        shape = engine.shape(input)
        if name == "cross_entropy" and shape and engine.requires_grad(input) and engine.recording():
            self._see(name, shape, min(len(shape) - 1, 1))

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran: is it a softmax?"""
        if op.name in ("softmax", "log_softmax") and engine.requires_grad(outs[0]) and len(engine.shape(inputs[0])):
            self._see(op.name, engine.shape(inputs[0]), params[0])
        elif op.name == _ATTENTION and engine.requires_grad(outs[0]):
            self._see(op.name, engine.shape(inputs[1]), -2)  # the keys
        elif op.name in _BY_HAND and len(inputs) == 2 and all(engine.is_tensor(t) for t in inputs):
            self._see_by_hand(_BY_HAND[op.name], *inputs)

    def _see_by_hand(self, total: str, part: Any, whole: Any) -> None:
        """`e / e.sum(dim, keepdim=True)`, or the same with logarithms."""
        node = engine.node(whole)
        if node is not None and operation(node) == total and node.edges[0] is engine.node(part) is not None:
            if engine.shape(whole) == engine.shape(part) and 1 in engine.shape(part):
                self._see("sum by hand", engine.shape(part), engine.shape(part).index(1))
            elif (place := here()) is not None:  # other sizes at times
                for key in [key for key in self._lines if key[0] == place]:
                    self._lines[key] = None

    def _see(self, name: str, shape: tuple[int, ...], dim: int) -> None:
        place = here()
        if place is None:
            return
        key = place, dim, len(shape)
        if shape[dim] != 1:
            self._lines[key] = None
            return
        if key not in self._lines:  # in a library's own normalisation one element is a size that was asked for
            chosen = name in ("softmax", "log_softmax", "sum by hand") and engine.by_library()
            self._lines[key] = None if chosen else _Line(name, shape)
        line = self._lines[key]
        if line is not None:
            line.steps.add(self.ledger.step)
            if self.ledger.step >= _AFTER:
                self._judge(key, line)

    def at_exit(self) -> None:
        """A short program: what was seen is all there is."""
        if self.ledger.step:
            for key, line in tuple(self._lines.items()):
                if line is not None:
                    self._judge(key, line)

    def _judge(self, key: _Key, line: _Line) -> None:
        if len(line.steps) < _STEPS:
            return
        place, dim, _ = key
        seen = f"(seen in {len(line.steps)} steps, never with another size)"
        if line.name == "cross_entropy":
            self.report(
                place,
                f"`cross_entropy` of scores of shape {line.shape}: there is one class only, so that the loss is always 0 {seen}.",
                fix="for two classes with one score: `binary_cross_entropy_with_logits(score, y.float())`.",
            )
        elif line.name == _ATTENTION:
            self.report(
                place,
                f"Attention runs over one key only (keys of shape {line.shape}): its weights are 1 whatever goes in {seen}.",
                fix="the second dimension from the end is the sequence: look at how the keys are laid out (`batch_first=True`?).",
            )
        elif line.name == "sum by hand":
            self.report(
                place,
                f"A value of shape {line.shape} is normalised by its sum over a dimension that has one element: the result is "
                f"1 (its logarithm 0) whatever goes in {seen}.",
                fix="sum over the dimension that has the alternatives.",
            )
        else:
            result = "1" if line.name == "softmax" else "0"
            self.report(
                place,
                f"A {line.name} runs over dimension {dim} of a tensor of shape {line.shape}, which has one element: the "
                f"result is {result} whatever goes in {seen}.",
                fix="give the dimension that has the alternatives (`dim=…`); for one score, `torch.sigmoid(score)`.",
            )


class _Line:
    """A line that has normalised one element."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.shape = name, tuple(shape)
        self.steps: set[int] = set()

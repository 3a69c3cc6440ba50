"""loss-is-leaf"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..books.departures import Departure
from ..rule import Diagnosis
from ..source.places import Place, here, text

_LINES = 4  # where the history was lost, at most


class LossIsLeaf(Diagnosis):
    """backward() was called on a tensor that no operation produced: nothing can be learnt from it.

    `requires_grad = True` on a loss without history makes the error of `backward()` go away, and the gradient with it: it
    ends in the loss itself. The history was lost before: by `argmax`, `.item()`, NumPy, `.data`, a comparison.

    Broken:

        predicted = logits.argmax(1).float()
        loss = F.mse_loss(predicted, target)
        loss.requires_grad = True
        loss.backward()

    Fixed:

        expected = (logits.softmax(1) * classes).sum(1)
        loss = F.mse_loss(expected, target)
        loss.backward()

    Silent where there is no optimizer, where the leaf is a Parameter or is owned by an optimizer, and where a leaf
    stands in now and then for a loss without terms.
    """

    name = "loss-is-leaf"
    why = "the gradient ends in the loss itself: no parameter gets any, and the model does not change."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._runs: dict[
            tuple[int, int], int
        ] = {}  # the line of backward() -> leaves in a row; -1: it had a history once

    def on_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """A pass begins."""
        root = tensors[0]
        if not engine.is_tensor(root):
            return
        if engine.node(root) is not None:
            if self._runs:
                self._note(here(), leaf=False)
            return
        if accumulates and self._is_fault(tensors):
            self._judge(root)

    def _is_fault(self, tensors: Any) -> bool:
        if not self.ledger.optimizers:
            return False
        for root in tensors:
            if not engine.is_tensor(root) or engine.node(root) is not None or engine.is_parameter(root):
                return False
            if engine.story(root) is not None and engine.story(root).owner is not None:
                return False
        return True

    def _judge(self, root: Any) -> None:
        run = self._note(here(), leaf=True)
        losses = self._losses(root)
        lost = losses[0] if losses else None
        if run < 0 or run < self._needed(root, lost):
            return
        flagged = (
            engine.story(root).flagged[1]
            if engine.story(root) is not None and engine.story(root).flagged is not None
            else None
        )
        if flagged is None and self.session.said(self.name):
            return  # it is known where; this one was made while nobody listened
        cause = f"; its history was lost at {text(lost.place)}, where the value {lost.verb}" if lost else ""
        self.report(
            flagged if flagged is not None else here(),
            f"`backward()` at {text(here())} is called on a tensor that no operation produced: it was made a leaf "
            f"here by hand{cause}.",
            fix="compute the loss from the model's output with differentiable operations (`loss = criterion(output, "
            "target)`) and call `loss.backward()` on it, without `requires_grad`.",
            also=[departure.place for departure in losses],
        )

    def _needed(self, root: Any, lost: Departure | None) -> int:
        """How many times in a row: a zero may stand for a loss without terms, but not each time."""
        if lost is not None and lost in self.ledger.departures.marks(root):
            return 1  # it is known that the value comes from parameters
        if not engine.array(root).any():
            return 8
        return 1 if lost is not None else 3

    def _losses(self, root: Any) -> list[Departure]:
        """Where the value lost its history: the lines it is known to come from; or else the last one it may come from."""
        departures = self.ledger.departures
        known = departures.marks(root)
        for found in (departures.of(root), departures.lately()):
            losses = [departure for departure in found if departure.carries_trained()]
            if losses:
                return losses[:_LINES] if losses[0] in known else losses[:1]
        return []

    def _note(self, place: Place | None, leaf: bool) -> int:
        """Count the leaves in a row at this line."""
        key = (id(place[0]), place[1]) if place is not None else (0, 0)
        run = self._runs.get(key, 0)
        run = run + 1 if leaf and run >= 0 else -1
        self._runs[key] = run
        return run

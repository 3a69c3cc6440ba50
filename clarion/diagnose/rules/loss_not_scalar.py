"""loss-not-scalar"""

from __future__ import annotations

import math
from typing import Any

from .. import engine
from ..books.records import Backward, Update
from ..finding import ERROR, WARN
from ..graph.float_words import all_ones
from ..rule import Diagnosis
from ..source.places import assigned, here, text

_SOME = 1024  # values of a device's tensor that are looked at first


class LossNotScalar(Diagnosis):
    """backward() on a loss that was not reduced to one number.

    A gradient belongs to one number. Of a loss per sample PyTorch wants to know how to add them up, and raises. The mean and
    the sum are both right, and differ by a factor of N in every gradient: with the sum, a learning rate that was meant for
    the mean is N times too large. `loss.backward(torch.ones_like(loss))` makes the error go away, and is the sum.

    Broken:

        criterion = nn.CrossEntropyLoss(reduction="none")
        loss = criterion(model(x), y)
        loss.backward(torch.ones_like(loss))

    Fixed:

        loss = criterion(model(x), y).mean()
        loss.backward()

    Silent for weights that are not all one (`loss.backward(weight)` with importance weights that sum to one), for several
    losses stacked into a vector, and where no update uses the gradients.
    """

    name = "loss-not-scalar"
    why = "the mean and the sum differ by a factor of N in every gradient, which acts like N times the learning rate."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._suspect: tuple[Backward, int] | None = None
        self._seeded = False  # has anybody given a gradient so far?

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """PyTorch's own error."""
        root = facts.get("not_scalar")
        if root is None:
            return
        shape, n = list(facts["shape"]), math.prod(facts["shape"])
        known = assigned(here()) if self.session.resting else None  # at rest the line of a node may be a guess
        computed = known or getattr(root, "place", None)
        self.report(
            computed or here(),
            f"`backward()` at {text(here())} was called on a tensor of shape {shape}, computed at {text(computed)}: it holds "
            f"{n} losses, and not one.",
            fix=f"`.mean()` there (or `.sum()`: gradients {n} times as large).",
            also=[here()],
            level=ERROR,
            error=error,
        )

    def rest_backward_began(self, tensors: Any, gradients: Any, *_: Any) -> None:
        """Somebody begins to give a gradient of his own: look at it."""
        if gradients[0] is not None and not self._seeded:
            self._seeded = True
            self.session.begin_phase()

    def at_seeded(self, backward: Backward, tensors: Any, gradients: Any) -> None:
        """Does the user's gradient add up a batch of losses?"""
        self._seeded = True
        if engine.roots_running() is not None:  # backward inside backward: a gradient that came from further up
            return
        root, seed = tensors[0], gradients[0]
        if not engine.is_tensor(root) or engine.size(root) < 2 or engine.node(root) is None:
            return
        if engine.late(seed) or not all_ones(engine.some(seed, _SOME)) or not all_ones(engine.array(seed)):
            return  # (of a GPU it is asked while the session listens closely: nobody waits for it later)
        if engine.title(engine.node(root)).startswith(("Stack", "Cat")):  # losses of several tasks: their sum is meant
            return
        self._suspect = backward, engine.size(root)
        self.session.listen("at_update", self, self._updated, True)

    def _updated(self, update: Update) -> None:
        """Does an update use these gradients?"""
        assert self._suspect is not None
        backward, n = self._suspect
        if not any(
            engine.story(leaf) is not None and engine.story(leaf).backward is backward for leaf in update.leaves
        ):
            return
        self._suspect = None
        self.session.listen("at_update", self, self._updated, False)
        self.report(
            backward.place,
            f"`backward()` got a gradient of ones for {n} losses (computed at {text(backward.root_place)}): that is the "
            f"gradient of their sum, {n} times the gradient of their mean, and the update at {text(update.place)} used it.",
            fix="`loss.mean().backward()`; if the sum is meant, `loss.sum().backward()` says so.",
            also=[backward.root_place],
            level=WARN,
        )

"""snapshot-aliased"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from .. import engine
from ..engine import Tensor
from ..graph.traits import having
from ..rule import Diagnosis
from ..source.places import Place, here, text

# Which ask how far two tensors are apart.
_APART = having("loss", also="sub lerp lerp_tensor")


class SnapshotAliased(Diagnosis):
    """A `state_dict()` was kept as a snapshot, training went on, and then it was loaded or saved: it had changed, too.

    `state_dict()` does not copy: its tensors share their memory with the parameters. What is loaded as "the best weights"
    are the current ones.

    Broken:

        if loss < best:
            best, best_state = loss, model.state_dict()
        …
        model.load_state_dict(best_state)        # loads what is there already

    Fixed:

            best, best_state = loss, copy.deepcopy(model.state_dict())

    Likewise a penalty or an average of the difference to such a snapshot: it is always zero. And an average of several is the
    last of them.

    Silent where the state is saved at once, or where it was copied.
    """

    name = "snapshot-aliased"
    why = "the snapshot is not a copy: what comes back are the weights of the last step, not those of the moment it was taken."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        # Tensors that a state_dict() gave, by identity: where, the version of their memory then, and whether it was trained already
        # (the model may be gone by the time that they are used).
        self._taken: dict[int, tuple[weakref.ref[Tensor], Place | None, int, bool]] = {}

    def on_state_taken(self, module: Any, state: Any) -> None:
        """Remember whose tensors these are."""
        place = here()
        for tensor in state.values():
            if engine.is_tensor(tensor):
                self._remember(tensor, place, engine.writes(tensor), self.ledger.is_trained(tensor))
        self.session.attend(4 * len(state) + 20)  # is it copied, or passed on as it is?

    def _remember(self, tensor: Tensor, place: Place | None, version: int, trained: bool) -> None:
        key = id(tensor)
        self._taken[key] = weakref.ref(tensor, lambda _: self._taken.pop(key, None)), place, version, trained

    def _is_trained(self, tensor: Tensor) -> bool:
        return self._taken[id(tensor)][3] or self.ledger.is_trained(tensor)

    def on_aliased(self, tensor: Tensor, other: Tensor) -> None:
        """`value.detach()` of a state's tensor is no copy either."""
        known = self._taken.get(id(tensor))
        if known is not None:
            self._remember(other, *known[1:])

    def on_state_loaded(self, module: Any, state: Any) -> None:
        """A state is put back."""
        self._judge(state, "loaded")
        self._judge_several()

    def on_state_written(self, value: Any) -> None:
        """Something is saved."""
        self._judge(value, "saved")

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """Is it compared with what it shares its memory with?"""
        if not self._taken or op.name not in _APART:
            return
        pair = [value for value in inputs[:2] if engine.is_tensor(value)]
        for one, other in ((0, 1), (1, 0)) if len(pair) == 2 else ():
            known = self._taken.get(id(pair[one]))
            if known is None or known[0]() is not pair[one] or engine.writes(pair[one]) == known[2]:
                continue
            if engine.memory(pair[0]) == engine.memory(pair[1]) and engine.shape(pair[0]) == engine.shape(pair[1]):
                again = self._taken.get(id(pair[other]))
                if self._is_trained(pair[one]) and (again is None or again[2] != known[2]):
                    self._say_compared(known[1])
                    return

    def _say_compared(self, place: Place | None) -> None:
        self.report(
            place,
            f"The `state_dict()` taken here is compared at {text(here())} with the current weights, after training steps changed "
            "them: it shares their memory, and the difference is always zero.",
            fix="take a copy: `copy.deepcopy(model.state_dict())`, or `{k: v.clone() for k, v in …}`.",
            also=[here()],
        )

    def _judge_several(self) -> None:
        """Are states kept that one line took at different times? Whatever is made of them, they are one and the same."""
        times: dict[Any, int] = {}  # by line and memory: a version
        for reference, place, version, _ in list(self._taken.values()):
            tensor = reference()
            if tensor is None or place is None or engine.writes(tensor) == version:
                continue
            if times.setdefault((place, engine.memory(tensor)), version) != version and self._is_trained(tensor):
                self.report(
                    place,
                    f"States that `state_dict()` gave here at different times are kept, and something is loaded at {text(here())}: "
                    "all of them share the memory of the current weights, and are equal.",
                    fix="take copies: `copy.deepcopy(model.state_dict())`, or `{k: v.clone() for k, v in …}`.",
                    also=[here()],
                )
                return

    def _judge(self, value: Any, what: str) -> None:
        if not self._taken:
            return
        changed: list[tuple[Tensor, Place | None]] = []
        for tensor in _tensors(value):
            known = self._taken.get(id(tensor))
            if known is not None and known[0]() is tensor and engine.writes(tensor) != known[2]:
                changed.append((tensor, known[1]))
        if not changed:
            return
        changed = [(tensor, place) for tensor, place in changed if self._is_trained(tensor)]
        if changed:
            self.report(
                changed[0][1],
                f"The `state_dict()` taken here is {what} at {text(here())}, after {len(changed)} of its tensors were changed "
                "by training steps: it shares their memory.",
                fix="take a copy: `copy.deepcopy(model.state_dict())`, or save it to a file at once.",
                also=[here()],
            )


def _tensors(value: Any, depth: int = 0) -> Iterator[Tensor]:
    if engine.is_tensor(value):
        yield value
    elif depth < 5 and isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each, depth + 1)
    elif depth < 5 and isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each, depth + 1)

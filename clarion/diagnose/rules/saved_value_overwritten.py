"""saved-value-overwritten"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..finding import ERROR, WARN
from ..rule import Diagnosis
from ..source.numpy_writes import find_write, find_write_in_place, find_write_to
from ..source.places import Where, called, file_line, text


class SavedValueOverwritten(Diagnosis):
    """A value that the backward pass needs was overwritten after it was saved.

    Many operations keep their inputs or their result for the gradient: `sigmoid` its result, a product its factors, a
    linear layer its input and its weight. Writing to that memory before `backward()` makes the gradient impossible, which
    PyTorch says at `backward()`, far from the write. Through `.data`, `.numpy()` or the array that `from_numpy()` was given
    PyTorch does not notice: the gradient is computed from the new values, and is wrong.

    Broken:

        gate = torch.sigmoid(self.fc(x))
        gate[:, closed] = 0.0
        return self.out(gate)

    Fixed:

        gate = torch.sigmoid(self.fc(x))
        gate = gate.masked_fill(mask, 0.0)
        return self.out(gate)

    An optimizer's `step()` writes, too: into the weights, which a later `backward()` through an older forward pass still
    needs. Writing to what nobody saved (`x += 1` after an addition) is fine and stays silent.
    """

    name = "saved-value-overwritten"
    level = ERROR
    why = "the gradient at that operation would be computed from other values than the result was."

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """PyTorch's own error."""
        node = facts.get("saved_by")
        if node is None:
            return
        write: Where = facts["overwritten_at"]
        shape = list(facts["shape"])
        told = write is not None
        if not told:  # nobody listened: is it a weight? Or what does the text of the program say?
            write = _step_of_weight(node, shape) or find_write_in_place(node.place)
        saver = f"`{_short(node)}` at {text(node.place)} saved a tensor of shape {shape} for backward()"
        if self._is_step(write):
            what = f"{saver}; the optimizer's `step()` at {text(write)} then wrote into it: it is a weight."
            fix = "call every `backward()` before the first `step()`, or run the forward pass again after it."
        else:
            who = text(write) if told or write is None else f"(as far as the program's text tells) {text(write)}"
            what = f"{saver}, and {who} wrote into it in place ({_times(facts['writes'])}) before it was used."
            fix = "write out of place there (`x = x * 2` for `x *= 2`, `torch.where` for `x[mask] = …`), or into `x.clone()`."
        self.report(write or node.place, what, fix=fix, also=[node.place], error=error)

    def on_silently_overwritten(self, node: Any, how: str, where: Any) -> None:
        """A write that PyTorch does not see."""
        write: Where = where
        by = "`.data`"
        fix = "change the value before it is used, out of place (`x = x.masked_fill(mask, 0.0)`), or write into a `clone()`."
        if how == "numpy":
            write = find_write(where, node.place)
            by = "an array that shares its memory (`.numpy()`)"
            fix = "work on a copy: `x.detach().numpy().copy()`."
        elif how == "from_numpy":
            write = find_write_to(engine.borrowed(node), where, node.place)
            by = f"the NumPy array that {text(where)} made it of"
            fix = f"take a copy at {text(where)}: `torch.tensor(array)`, or `torch.from_numpy(array.copy())`."
        self.report(
            write or node.place,
            f"`{_short(node)}` at {text(node.place)} saved a value for backward(), {text(write)} changed it through {by} "
            "before it was used, and the gradient is computed from the changed values.",
            why="nothing notices a write on this way: the gradients are wrong, without an error.",
            fix=fix,
            also=[node.place],
            level=WARN,
        )

    def _is_step(self, write: Where) -> bool:
        if write is None:
            return False
        if file_line(write) == file_line(self.ledger.last_update):
            return True
        call = called(write) if not isinstance(write[0], str) else None
        return call is not None and getattr(call.func, "attr", "") == "step"


def _step_of_weight(node: Any, shape: list[int]) -> Where:
    """If a leaf of this shape (or turned round) is among what the node was given: where its optimizer's `step()` is called."""
    for leaf in node.edges:
        if leaf is not None and engine.is_tensor(leaf) and list(engine.shape(leaf)) in (shape, shape[::-1]):
            story = engine.story(leaf)
            owner = story.owner() if story is not None and story.owner is not None else None
            if owner is not None:
                found: Where = owner._story.stepped
                return found
    return None


def _short(node: Any) -> str:
    title: str = engine.title(node)
    return title.rstrip("0123456789").removesuffix("Backward")


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"

"""checkpoint-diverges"""

from __future__ import annotations

from typing import Any

from ..finding import ERROR, WARN
from ..rule import Diagnosis
from ..source.places import Where, file_line, text


class CheckpointDiverges(Diagnosis):
    """The recomputation of a checkpointed region did not do what its forward pass did.

    `checkpoint(f, x)` runs `f` a second time during backward(). If something has changed in between, the gradient belongs to
    another function than the one whose result was used. PyTorch raises if the number or the shapes of saved tensors differ;
    where only values differ (dropout with `preserve_rng_state=False`, noise from NumPy or `random`, a counter), it is silent.
    What the region writes (running statistics of batch normalisation) is written twice.

    Broken:

        h = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)   # dropout inside

    Fixed:

        h = checkpoint(block, x, use_reentrant=False)

    Random numbers of torch are replayed, unless that is turned off. Others are drawn outside of the region and given to it
    as arguments; so are counters and coins. Normalisation with running statistics stays outside, or is replaced by
    `GroupNorm` or `LayerNorm`.
    """

    name = "checkpoint-diverges"
    why = "the gradients belong to values that the forward pass never had."

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """PyTorch's own error."""
        if "checkpoint" not in facts:
            return
        place, differs, saved = facts["checkpoint"], facts["differs"], facts["saved"]
        how = "saved tensors of other shapes" if saved is None else f"saved {saved[1]} tensors instead of {saved[0]}"
        lines = _distinct([line for line in (facts["operation"], differs) if line is not None])
        self.report(
            place,
            f"The region checkpointed at {text(place)} {how} when it was recomputed; the first difference is at "
            f"{text(lines[0] if lines else None)}.",
            fix="make it do the same both times: decide branches outside, and pass what they depend on as arguments of "
            "`checkpoint(...)`.",
            also=lines,
            level=ERROR,
            error=error,
        )

    def on_recomputed(self, function: Any, facts: dict[str, Any]) -> None:
        """A region ran again (told while the session listens closely)."""
        lines = _distinct(facts["differs"])
        place: Where = facts["place"]
        if lines:
            random = (
                "" if facts["random_replayed"] else " (its random numbers are not replayed: preserve_rng_state=False)"
            )
            self.report(
                place,
                f"The region checkpointed at {text(place)} computed other values when it was recomputed{random}; they differ "
                f"from {text(lines[0])} on.",
                fix="leave `preserve_rng_state` at True"
                if random
                else "draw random numbers with torch, and pass what changes from call to call as arguments of `checkpoint(...)`",
                also=lines[:3],
                level=WARN,
            )
            return
        for tensor, line in facts["written"]:
            owner = self._owner(tensor)
            if owner is not None:
                self.report(
                    place,
                    f"The region checkpointed at {text(place)} is run twice per step, and so is its write to the buffer "
                    f"`{owner[1]}` of {type(owner[0]).__name__} at {text(line)}: the recomputation updates it once more.",
                    why="running statistics move twice as fast as their momentum says, and counters count double.",
                    fix="keep layers with running statistics outside of the region, or use `nn.GroupNorm` inside.",
                    also=[line],
                    level=WARN,
                )
                return

    def _owner(self, tensor: Any) -> tuple[Any, str] | None:
        """The module whose buffer a tensor is, and its name there."""
        for module in self.ledger.modules:
            for name, buffer in module._buffers.items():
                if buffer is tensor:
                    return module, name
        return None


def _distinct(places: list[Any]) -> list[Where]:
    """Places on different lines, in order."""
    found: dict[Any, Where] = {}
    for place in places:
        found.setdefault(file_line(place), place)
    return list(found.values())

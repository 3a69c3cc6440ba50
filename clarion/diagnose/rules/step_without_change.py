"""step-without-change"""

from __future__ import annotations

import zlib
from typing import Any

from ..records import Sample, Update
from ..rule import Diagnosis

# A warm-up may begin with several steps at a rate of 0.
_AFTER = 16


class StepWithoutChange(Diagnosis):
    """`step()` ran with gradients that are not zero, and no parameter changed.

    The learning rate is 0, or so small that the update is lost in rounding: a float32 number near 1 does not move by less
    than 6e-8, a bfloat16 number by less than 4e-3.

    Broken:

        model = model.to(torch.bfloat16)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)     # below the resolution of the weights

    Fixed:

        model = model.float()                                        # weights in float32, bfloat16 by torch.autocast
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)

    Three samples with the same learning rate are needed, so a warm-up from 0 does not trigger it.
    """

    name = "step-without-change"
    why = "the model does not learn, whatever the loss says."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._before: tuple[int, list[int]] | None = None  # id of the optimizer, a checksum of each leaf
        self._unchanged: dict[int, tuple[tuple[Any, ...], int]] = {}
        self._largest: dict[int, float] = {}  # norm of the gradient, per optimizer

    def near_step_began(self, optimizer: Any) -> None:
        """Note what the parameters are."""
        leaves = [p for g in optimizer.param_groups for p in g["params"]]
        self._before = id(optimizer), [_checksum(leaf) for leaf in leaves]

    def at_gradients(self, update: Update, sample: Sample) -> None:
        """Compare, if they were noted."""
        before, self._before = self._before, None
        if before is None or before[0] != id(update.optimizer) or not sample.total > 0.0:
            return
        key = before[0]
        rates = tuple([float(group.get("lr", 1.0)) for group in update.optimizer.param_groups])
        moved = any(
            square and _checksum(leaf) != old
            for leaf, square, old in zip(update.leaves, sample.squares, before[1], strict=True)
        )
        largest = self._largest[key] = max(self._largest.get(key, 0.0), sample.total if sample.finite else 0.0)
        converged = sample.total < 1e-3 * largest and max(rates) > 0.0
        if moved or converged or not sample.finite:
            self._unchanged.pop(key, None)
            return
        known, times = self._unchanged.get(key, (rates, 0))
        times = times + 1 if known == rates else 1
        self._unchanged[key] = rates, times
        if times >= 3 and sample.number >= _AFTER:
            self._say(update, sample, rates)

    def _say(self, update: Update, sample: Sample, rates: tuple[float, ...]) -> None:
        largest = max(rates)
        kinds = sorted({str(leaf.dtype).removeprefix("torch.") for leaf in update.leaves})
        if largest == 0.0:
            reason, fix = "the learning rate is 0", "give the optimizer a learning rate above 0."
        else:
            reason = f"with a learning rate of {largest:g} the updates are below the resolution of {', '.join(kinds)} weights"
            fix = "a larger learning rate, or weights in float32 (low precision belongs into torch.autocast, not into weights)."
        self.report(
            update.place,
            f"`step()` changed none of {len(update.leaves)} parameters in three sampled steps, though the gradient's norm is "
            f"{sample.total:.3g}: {reason}.",
            fix=fix,
        )


def _checksum(leaf: Any) -> int:
    array = leaf._array
    return zlib.crc32(array.data if array.flags.c_contiguous and array.dtype.kind in "fc" else array.tobytes())

"""gradient-spikes"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .. import engine
from ..books.records import Sample, Update
from ..graph.names import listed, names_of
from ..rule import Diagnosis

_FIRST = 20  # steps that are only looked at
_WINDOW = 100  # steps that make up the usual
_GROWTH = 20  # steps over which a norm may keep growing
_AT_ONCE = 0.8  # of a growth (of its logarithm): more in one leap is none
_FACTOR = 10.0
_NOTHING, _ORDINARY = 1e-3, 3.0  # norms next to that of the parameters: almost none, and one as gradients may have
_CLIPPED_FACTOR = 100.0  # where clipping keeps them from the update: that is what it is there for


class GradientSpikes(Diagnosis):
    """The norm of the gradient jumps far above what is usual for this training, or keeps growing.

    One bad batch, a learning rate beyond what is stable, a quantity without a bound (a variance that may shrink to zero, a
    critic without a constraint): a single such update can undo thousands of good ones.

    Broken:

        loss.backward()
        optimizer.step()

    Fixed:

        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()

    There is no fixed threshold: a jump counts if it is above the median of the last 100 steps by eight times their spread,
    by a factor of ten, and beyond anything seen before; growth, if every five steps are above the five before, tenfold over
    twenty. The first 20 steps never count. Where gradients are clipped, the norms before clipping are looked at, too, and only
    a jump by a factor of a hundred counts: clipping is there for the others.
    """

    name = "gradient-spikes"
    why = "one such update can undo thousands of good ones; the loss jumps, and may never come back."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._largest_first: dict[int, float] = {}  # per optimizer: of the first steps
        self._before: float | None = None  # the norm before clipping, in this step
        self._unclipped: dict[int, deque[float]] = {}  # such norms, per optimizer
        self._far = math.inf  # beyond all of them

    def on_clipped(self, leaves: Any, limit: float) -> None:
        """Gradients are about to be clipped; where that is done element by element, nobody else tells their norm."""
        grads = [grad for leaf in leaves if (grad := engine.grad(leaf)) is not None]
        if grads and not self.session.resting and not engine.late(grads[0]):
            self._note(math.sqrt(sum(square or 0.0 for square in engine.squares(grads))))

    def on_limited(self, norm: Any) -> None:
        """Gradients are about to be clipped by their norm."""
        if not engine.late(norm):
            self._note(engine.number(norm))

    def _note(self, norm: float) -> None:
        self._before = norm
        if norm > self._far:
            self.ledger.measure_soon()

    def at_gradients(self, update: Update, sample: Sample) -> None:
        """Is this norm out of the ordinary?"""
        key = id(update.optimizer)
        before, self._before = self._before, None
        if before is not None and sample.finite:
            self._look_before_clipping(update, sample, before)
        if sample.number <= _FIRST:
            if sample.finite:
                self._largest_first[key] = max(self._largest_first.get(key, 0.0), sample.total)
            return
        assert update.story is not None
        recent = update.story.track.recent
        largest = self._largest_first.get(key, math.inf)
        if not sample.finite or len(recent) < _FIRST or sample.total <= 2.0 * largest:
            return
        norms = [s.total for s in list(recent)[-_WINDOW - 1 : -1] if 0.0 < s.total < math.inf]
        if len(norms) >= _FIRST - 1:
            stale = update.stale or self.session.said("stale-gradient")  # gradients that are not cleared grow
            if not stale and not self._is_of_another_loss(sample, list(recent)):
                self._jump(update, sample, norms)
            if len(norms) >= _GROWTH + _FIRST - 1:
                self._growth(update, sample, [*norms, sample.total], largest)

    def _is_of_another_loss(self, sample: Sample, recent: list[Sample]) -> bool:
        """Is it one of the first gradients of a new phase, with a loss from another line or a graph of another size? It has its own norms."""
        if self.ledger.passes - self.session.widths.changed < _FIRST:
            return True
        this, passes = sample.backward, [s.backward for s in recent if s.backward is not None]
        if this is None:
            return False
        if sum(map(_reached(sample).__eq__, map(_reached, recent))) < _FIRST:  # other leaves than before
            return True
        if not this.kind:  # compiled as a whole: what the loss is nobody knows
            return False
        alike = [
            p
            for p in passes
            if p.kind == this.kind and (this.root_place is None or p.root_place in (this.root_place, None))
        ]
        return len(alike) < _FIRST

    def _look_before_clipping(self, update: Update, sample: Sample, norm: float) -> None:
        """Was it out of the ordinary before it was clipped?"""
        norms = self._unclipped.setdefault(id(update.optimizer), deque(maxlen=_WINDOW))
        if len(norms) >= 2 * _FIRST and norm > 1.5 * sample.total and math.isfinite(norm):
            logs = [math.log(n) for n in norms]
            usual = median(logs)
            spread = max(median([abs(x - usual) for x in logs]), 0.05)
            jump = math.log(norm) - usual
            if jump > max(8.0 * spread, math.log(_CLIPPED_FACTOR)) and norm > 10.0 * max(norms):
                self._say(
                    update,
                    sample,
                    f"The norm of the gradient jumped to {norm:.3g}; the median of the last {len(norms)} steps is "
                    f"{math.exp(usual):.3g}. Clipping made {sample.total:.3g} of it, in the direction of this batch alone.",
                )
        if 0.0 < norm < math.inf:
            norms.append(norm)
            self._far = _FACTOR * max(norms)

    def _jump(self, update: Update, sample: Sample, norms: list[float]) -> None:
        logs = [math.log(norm) for norm in norms]
        usual = median(logs)
        spread = max(median([abs(x - usual) for x in logs]), 0.05)
        now = math.log(sample.total)
        if now > usual + 8.0 * spread and now > usual + math.log(_FACTOR) and sample.total > 2.0 * max(norms):
            size = _size(update)
            if math.exp(usual) < _NOTHING * size and sample.total < _ORDINARY * size:
                return  # a margin that is kept by most batches: what jumps is no more than a gradient usually has
            self._say(
                update,
                sample,
                f"The norm of the gradient jumped to {sample.total:.3g}; the median of the last {len(norms)} steps is "
                f"{math.exp(usual):.3g}.",
            )

    def _growth(self, update: Update, sample: Sample, norms: list[float], largest: float) -> None:
        assert update.story is not None
        last = norms[-_GROWTH - 5 :]
        blocks = [median(last[i : i + 5]) for i in range(0, len(last), 5)]
        rising = all(a < b for a, b in pairwise(blocks))
        if not rising or blocks[-1] < _FACTOR * blocks[0] or blocks[-1] < _FACTOR * largest:
            return
        if max(b / a for a, b in pairwise(blocks)) > (blocks[-1] / blocks[0]) ** _AT_ONCE:
            return  # not bit by bit: another loss, mostly
        if self.session.said("stale-gradient"):  # gradients that are never cleared grow
            return
        # A model that wakes up has growing gradients, too: but small ones, next to its weights, and its loss does not grow.
        size = _size(update)
        if blocks[-1] > size or _has_grown([s.loss for s in list(update.story.track.recent)[-_GROWTH - 5 :]]):
            self._say(
                update,
                sample,
                f"The norm of the gradient keeps growing: {blocks[0]:.3g}, {blocks[len(blocks) // 2]:.3g}, {blocks[-1]:.3g} "
                f"within {_GROWTH} steps.",
            )

    def _say(self, update: Update, sample: Sample, what: str) -> None:
        shares = sorted(
            ((s, leaf) for s, leaf in zip(sample.squares, update.leaves, strict=True) if s), key=lambda pair: -pair[0]
        )[:3]
        names = names_of(self.ledger, [leaf for _, leaf in shares])
        percent = 100.0 * shares[0][0] / sample.total**2
        self.report(
            sample.backward.place if sample.backward is not None else None,
            f"{what} The largest share has {listed(names[:1])} ({percent:.0f} %)"
            + (f", then {listed(names[1:])}." if names[1:] else "."),
            fix="torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm) between backward() and step(), a smaller learning "
            "rate, and a look at this batch and at anything in the loss that has no bound.",
        )


def _size(update: Update) -> float:
    """The norm of the parameters."""
    return math.sqrt(sum(float((engine.array(leaf).astype(float) ** 2).sum()) for leaf in update.leaves))


def _has_grown(losses: list[float | None]) -> bool:
    """Is a loss tenfold what it was?"""
    known = [loss for loss in losses if loss is not None]
    return len(known) > _GROWTH and median(known[-5:]) > _FACTOR * median(known[:5]) > 0.0


def _reached(sample: Sample) -> list[bool]:
    """Which leaves had a gradient."""
    return [square is not None for square in sample.squares]


def median(values: Sequence[float]) -> float:
    """The one in the middle. (That of `statistics` comes with a library of decimal fractions, which takes 2 ms to import.)"""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

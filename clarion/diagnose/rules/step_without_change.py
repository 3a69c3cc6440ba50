"""step-without-change"""

from __future__ import annotations

import math
import zlib
from functools import partial
from typing import Any

import numpy as np

from .. import engine
from ..books.records import Sample, Update
from ..graph.names import names_of
from ..rule import Diagnosis

# A warm-up may begin with several steps at a rate of 0.
_AFTER = 16
_LIKE_OTHERS = 0.001  # of the largest gradient: less is noise (a bias before a normalisation), or vanishes
_ADAPTED = 1e-4  # the same where updates do not grow with the gradient (Adam)
_FELT = 1e-7  # a gradient beside which Adam's `eps` is small
_ROUNDED = 0.25  # of the resolution at a parameter's size: a smaller update is rounded away
_NOISE = 1e-5  # of a parameter's own size (or 1, if it is large): a smaller gradient is rounding itself
_DWINDLED = 1e-4  # of the highest learning rate: below that, whether anything moves is looked at late, too,
_LATE = 0.1  # of it: below that a schedule is coming to its end
_LOOKS = 64  # so often
_SAMPLED = 4096  # elements of a parameter that are compared one by one


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

    Three samples with about the same learning rate are needed, so a warm-up from 0 does not trigger it. A bias that begins at 0
    can hold any change, however small: one of less than a hundredth of its type's precision does not count.
    """

    name = "step-without-change"
    why = "the model does not learn, whatever the loss says."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._before: tuple[int, Any] | None = None  # id of the optimizer, and its leaves as they were
        self._late: tuple[Any, ...] | None = None  # what is judged when the values of a device have arrived
        self._unchanged: dict[int, tuple[tuple[Any, ...], int]] = {}
        self._still: dict[int, int] = {}  # per leaf: samples in a row in which it did not move
        self._doubtful: set[int] = set()  # leaves whose sample did not move: the next time all of them is looked at
        self._largest: dict[int, float] = {}  # norm of the gradient, per optimizer
        self._highest: dict[int, float] = {}  # learning rate, per optimizer
        self._looks: dict[int, int] = {}  # how often it was looked at because its rate has dwindled
        self._moving: set[int] = set()  # optimizers of the user's or a library's that did move something

    def on_step_began(self, optimizer: Any) -> None:
        """Note what the parameters are: while it is listened to closely, or if the learning rate is next to nothing by now."""
        if not self.session.near:
            if not self._has_dwindled(optimizer):
                return
            optimizer._story.track.due = 0  # its gradients are measured after this step
        self._hear()
        leaves = [p for g in optimizer.param_groups for p in g["params"]]
        sent = engine.samples_soon(leaves, _SAMPLED)
        looks = sent
        if sent is None:
            looks = [_Look(engine.some(leaf, _SAMPLED), id(leaf) in self._doubtful) for leaf in leaves]
        self._before = id(optimizer), looks

    def _has_dwindled(self, optimizer: Any) -> bool:
        """Is the learning rate far below what it was? (A schedule that ends too early, or never ends to reduce it.)"""
        if getattr(optimizer, "_story", None) is None:
            return False
        rate = max([_rate(group) for group in optimizer.param_groups], key=_number)
        rate, key = _number(rate), id(optimizer._story)
        highest = self._highest.get(key, 0.0)
        if rate > highest:
            self._highest[key] = rate
        if rate > _DWINDLED * highest or self._looks.get(key, 0) >= _LOOKS:
            return False
        self._looks[key] = self._looks.get(key, 0) + 1
        return True

    def at_gradients(self, update: Update, sample: Sample) -> None:
        """Compare, if they were noted: now, or when both have arrived."""
        self._hear()
        before, self._before = self._before, None
        if before is None or before[0] != id(update.optimizer) or not sample.total > 0.0:
            return
        rates = tuple([float(_rate(group)) for group in update.optimizer.param_groups])
        if type(before[1]) is list:
            now = [partial(engine.some, leaf, _SAMPLED) for leaf in update.leaves]
            self._judge(update, sample, rates, before[1], now)
            return
        self._late = update, sample, rates, before[1], engine.samples_soon(list(update.leaves), _SAMPLED)

    def at_exit(self) -> None:
        """What the last steps have left."""
        self._hear()

    def _hear(self) -> None:
        """Judge what has been waiting for values."""
        if self._late is None:
            return
        (update, sample, rates, before, after), self._late = self._late, None
        if after is not None:
            now = [partial(np.asarray, values) for values in after.read()]
            self._judge(update, sample, rates, [_Look(values) for values in before.read()], now)

    def _judge(
        self, update: Update, sample: Sample, rates: tuple[float, ...], looks: list[_Look], now: list[Any]
    ) -> None:
        """Compare the parameters as they were with what they are now, which the functions `now` give."""
        if len(looks) != len(update.leaves):  # some were added since
            return
        key = id(update.optimizer)
        usual = min(1.0, max(look.size for look in looks))
        moved = any(
            square and look.has_moved(values, usual, engine.eps(leaf))
            for leaf, square, look, values in zip(update.leaves, sample.squares, looks, now, strict=True)
        )
        largest = self._largest[key] = max(self._largest.get(key, 0.0), sample.total if sample.finite else 0.0)
        converged = sample.total < 1e-3 * largest and max(rates) > 0.0
        if not _is_torchs(update.optimizer):  # it may project, and stand still where that is best
            if moved:
                self._moving.add(key)
            converged = converged or (key in self._moving and max(rates) > 0.0)
        elif not converged:
            self._look_at_each(update, sample, rates, looks, now)
        self._doubtful = {id(leaf) for leaf, look in zip(update.leaves, looks, strict=True) if look.in_doubt}
        if moved or converged or not sample.finite:
            self._unchanged.pop(key, None)
            return
        known, times = self._unchanged.get(key, (rates, 0))
        if not self._is_alike(update.optimizer, known, rates):
            known, times = rates, 0
        times += 1
        self._unchanged[key] = known, times
        if times >= 3 and sample.number >= _AFTER:
            self._say(update, sample, rates)

    def _is_alike(self, optimizer: Any, before: tuple[float, ...], now: tuple[float, ...]) -> bool:
        """Are these learning rates as good as equal? A schedule may lower them a little; at its end nothing need move any more."""
        if before == now:
            return True
        story = id(optimizer._story)
        highest = self._highest[story] = max(self._highest.get(story, 0.0), *before, *now)
        lowered = all(0.5 * old <= new <= old for old, new in zip(before, now, strict=False))
        return len(before) == len(now) and lowered and max(now) > _LATE * highest

    def _look_at_each(
        self, update: Update, sample: Sample, rates: tuple[float, ...], looks: list[_Look], now: list[Any]
    ) -> None:
        """Does a single parameter stand still, with a gradient like that of the others?"""
        if not sample.finite or min(rates) <= 0.0:
            return
        sizes = [
            math.sqrt(s / max(engine.size(p), 1)) if s else 0.0
            for p, s in zip(update.leaves, sample.squares, strict=True)
        ]
        adapted = "betas" in update.optimizer.param_groups[0]
        usual = max(sizes) * (_ADAPTED if adapted else _LIKE_OTHERS)
        own = [_rate(group) for group in update.optimizer.param_groups for _ in group["params"]]
        for leaf, size, look, values, rate in zip(update.leaves, sizes, looks, now, own, strict=True):
            counts = size > usual and size > _NOISE * min(look.size, 1.0) > 0.0
            if adapted and size > _FELT:  # each update is about as large as the rate
                counts = counts or _number(rate) < _ROUNDED * engine.eps(leaf) * look.size
            still = counts and not look.has_changed(values)
            times = self._still[id(leaf)] = self._still.get(id(leaf), 0) + 1 if still else 0
            if times >= 3 and sample.number >= _AFTER and len(update.leaves) > 1:
                self._say_one(update, leaf, size, look.size, float(rate))

    def _say_one(self, update: Update, leaf: Any, gradient: float, size: float, rate: float) -> None:
        kind = str(leaf.dtype).removeprefix("torch.")
        (name,) = names_of(self.ledger, [leaf])
        self.report(
            update.place,
            f"`step()` does not move `{name}`, though its gradient is about {gradient:.2g} per element: with a learning rate of "
            f"{rate:g} the updates are lost in the rounding of {kind} numbers as large as {size:.3g}.",
            why="this parameter stays where it is, whatever its gradient says, while the others learn around it.",
            fix="keep it in float32 (low precision belongs into torch.autocast), store its distance from a constant "
            "(`1 + delta`), or give it a larger learning rate.",
        )

    def _say(self, update: Update, sample: Sample, rates: tuple[float, ...]) -> None:
        largest = max(rates)
        kinds = sorted({str(leaf.dtype).removeprefix("torch.") for leaf in update.leaves})
        count = len(update.leaves)
        if largest == 0.0:
            reason, fix = (
                "the learning rate is 0",
                "give the optimizer a learning rate above 0; a schedule may have ended at 0.",
            )
        elif not _is_torchs(update.optimizer):
            name = type(update.optimizer).__name__
            reason = f"`{name}.step()` does not write into them, or less than their rounding"
            fix = (
                "write in place: `p.add_(update, alpha=-lr)`. `p = p - …` makes a new tensor, and `p[mask]` is a copy."
            )
        else:
            reason = f"with a learning rate of {largest:g} the updates are lost in the rounding of {', '.join(kinds)} numbers"
            fix = "a larger learning rate, or parameters scaled to about 1 (is `eps` what it should be?)."
            if kinds != ["float32"]:
                fix = "a larger learning rate, or float32 parameters (low precision belongs into torch.autocast)."
        self.report(
            update.place,
            f"`step()` left {'its parameter' if count == 1 else f'all {count} parameters'} unchanged in three sampled steps, "
            f"though the gradient's norm is {sample.total:.3g}: {reason}.",
            fix=fix,
        )


class _Look:
    """A parameter as it was: a sample of its elements and, where that is in doubt, a checksum of all. (On a device the sample is all.)"""

    def __init__(self, values: Any, all_of_it: bool = False) -> None:
        taken = _taken(values)
        self._bits = taken.tobytes()
        self._sample = _wide(taken)
        self._checksum = _checksum(values) if all_of_it else None
        self.size = float(np.abs(self._sample).max()) if self._sample.size else 0.0
        self.in_doubt = all_of_it  # the sample did not change, or does not tell

    def has_changed(self, now: Any) -> bool:
        """Did any element change? (Of some subclasses no values are to be had: they may have.)"""
        values = now()
        if not self._sample.size or _taken(values).tobytes() != self._bits:
            self.in_doubt = False
            return True
        if values.size == self._sample.size:
            return False
        self.in_doubt = True
        return self._checksum is None or _checksum(values) != self._checksum

    def has_moved(self, now: Any, usual: float, eps: float) -> bool:
        """Did it change, and by more than what only a value next to 0 can hold? (`usual`: how large parameters are here.)"""
        values = now()
        if not values.size or not self.has_changed(now):
            return not values.size
        change = np.abs(_wide(_taken(values)) - self._sample).max()
        least = 0.01 * eps * max(self.size, usual)
        return not 0.0 < change < least  # exactly 0: it changed where the sample does not look


def _rate(group: dict[str, Any]) -> Any:
    rate = group.get("lr")
    return 1.0 if rate is None else rate  # it has none, or finds it by itself (Adafactor)


def _number(rate: Any) -> float:
    return float(rate) if isinstance(rate, (int, float)) else math.inf  # a tensor's value may lie on a device


def _is_torchs(optimizer: Any) -> bool:
    return type(optimizer).__module__.startswith(("clarion.", "torch.optim"))


def _checksum(values: Any) -> int:
    return zlib.crc32(values.data if values.flags.c_contiguous and values.dtype.kind in "fc" else values.tobytes())


def _taken(values: Any) -> Any:
    flat = values.reshape(-1)
    return flat[:: max(1, flat.size // _SAMPLED)]


def _wide(taken: Any) -> Any:
    return taken.astype(np.complex128 if taken.dtype.kind == "c" else np.float64)

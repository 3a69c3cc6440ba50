"""When a session at rest wakes: as often as `SHARE` of the time that the program itself takes allows.

What a wake costs is measured, and what a step takes at rest; where a step takes 10 µs there are thousands between two wakes, and
in a training of a transformer some hundred. What cannot wait so long is seen at a *glance*: one pass in some (128 where a step takes
10 µs, later more) is compared with those before it. Does a parameter still hold a gradient where it held none? Is the graph of a pass some time
ago still there? Does nobody write to the parameters any more, or at next to no learning rate? What is new is a change, and is
listened to closely, as another number of nodes is (widths.py).
"""

from __future__ import annotations

import weakref
from time import process_time
from typing import TYPE_CHECKING, Any

from .. import engine

if TYPE_CHECKING:
    from .ledger import Ledger

FIRST = 64  # passes at rest until the session wakes for the first time, and the least between two wakes
_MOST = 8192  # the most
SHARE = 0.01  # of the time at rest
_AFTER = 100e-6  # seconds, in all, that the steps after a wake take longer until all runs as before
# Seconds between two glances (one takes some 15 µs, whose code the caches have forgotten), and passes, at most,
_GLANCE, _SELDOM = 2e-3, 128
_LATE, _PART = 8e-3, 32  # and later: so many seconds, if that is no larger part of all passes so far
_ENOUGH = 16  # passes that tell how long one takes
_CYCLE = 64  # where an engine tells some steps only: those after which the session wakes for a while,
_LONG = 9  # and bits of a count from which on it wakes less and less often: four to eight times while the count doubles
_CHANGES = 4  # that are listened to
_STRANGE = ("kept", "dwindled", "leaf")  # what is no way to begin with
_DWINDLED = 1e-4  # of the highest learning rate


def _cycle(count: int) -> int:
    return _CYCLE << max(0, count.bit_length() - _LONG)


def until_waking(count: int) -> int:
    """How many steps are left until it is time."""
    return _cycle(count) - count % _cycle(count)


def is_time(before: int, now: int) -> bool:
    """Is it time to wake, where so many steps were counted before, and so many now?"""
    cycle = _cycle(now)
    return now // cycle > before // cycle


class Waking:
    """What wakes cost, and when the next one is due, counted in backward passes."""

    def __init__(self) -> None:
        self.at = 0  # passes at which to wake
        self.overdue = False  # has that pass begun?
        self._pass = 0.0  # seconds from one pass to the next, at rest
        self._rested: tuple[float, int] | None = None  # when a rest began, and at which pass
        self._woke: tuple[float, int] | None = None  # when one ended

    def rest(self, passes: int) -> None:
        """A rest begins: how long may it be?"""
        now, left = process_time(), FIRST
        if self._woke is not None and self._pass:
            time, before = self._woke
            cost = now - time - (passes - before) * self._pass + _AFTER
            left = min(_MOST, max(FIRST, int(cost / (SHARE * self._pass))))
        self.at, self.overdue, self._rested = passes + left, False, (now, passes)

    def pause(self, passes: int) -> int:
        """How many passes there are between two glances."""
        if not self._pass:
            return FIRST
        soon, late = min(_SELDOM, int(_GLANCE / self._pass)), int(_LATE / self._pass)
        return max(soon, min(passes // _PART, late))

    def settled(self, passes: int) -> None:
        """All runs as before now: what a pass takes is measured from here on."""
        self._rested = process_time(), passes

    def wake(self, passes: int) -> None:
        """It is over."""
        now = process_time()
        if self._rested is not None:
            time, before = self._rested
            if passes - before >= _ENOUGH:
                self._pass = (now - time) / (passes - before)
        self._rested, self._woke = None, (now, passes)

    def stop(self) -> None:
        """Nobody counts from now on."""
        self._rested = None

    def at_pass(self, before: int, passes: int) -> bool:
        """A pass begins. Is it time to wake? (Where steps are heard of, that of the first that is due will say so.)"""
        if not engine.knows_all_nodes:
            return is_time(before, passes)
        overdue, self.overdue = self.overdue, passes >= self.at
        return overdue

    def at_step(self, before: int, steps: int) -> bool:
        """A step has ended, or several. Is it time to look again?"""
        return self.overdue if engine.knows_all_nodes else is_time(before, steps)


class Glance:
    """What is seen of a pass in passing: is it like those before?"""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._leaf: weakref.ref[Any] | None = None  # a parameter that stands for all,
        self._optimizer: weakref.ref[Any] | None = None  # and who updates it
        self._rate = 0.0  # the highest learning rate
        self._root: weakref.ref[Any] | None = None  # of the pass that was looked at last
        self._writes = self._passes = -1  # to the parameter, and passes, until then
        self._known: dict[str, set[int]] = {}
        self._unlike = False
        self._changes = 0

    def rest(self) -> None:
        """A rest begins."""
        optimizer = next(iter(self._ledger.optimizers), None)
        groups = () if optimizer is None else optimizer.param_groups
        leaf = next((leaf for group in groups for leaf in group["params"]), None)
        leaf = leaf if leaf is not None else next(iter(self._ledger.some_leaves(1)), None)
        self._leaf = None if leaf is None else weakref.ref(leaf)
        self._optimizer = None if optimizer is None else weakref.ref(optimizer)
        self._root, self._unlike = None, False
        self._dwindled()  # what is the rate before?
        wanted = leaf is not None and self._changes < _CHANGES
        engine.glance(self.alike if wanted else None, self._ledger.waking.pause(self._ledger.passes))

    def alike(self, root: Any) -> bool:
        """A pass begins, from this node. NOTE [Never in the way] in session.py."""
        leaf = self._leaf() if self._leaf is not None else None
        try:
            return leaf is None or self._compare(root, leaf)
        except Exception as error:
            self._ledger.session.take_out("glance", error)
            return True

    def _compare(self, root: Any, leaf: Any) -> bool:
        before, self._root = self._root, weakref.ref(root)
        writes, self._writes = self._writes, engine.writes(leaf)
        if before is None:
            self._ledger.waking.settled(self._ledger.passes)
        passes, self._passes = self._passes, engine.width()[1]
        held = engine.grad(leaf) is not None and (self._optimizer is not None or self._ledger.is_added_to())
        seen: dict[str, int] = {"held": held, "dwindled": self._dwindled()}
        if before is not None:
            seen["kept"] = before() is not None
            # Writes for four passes: accumulating begins, or ends.
            seen["pace"] = round(4 * (self._writes - writes) / max(1, self._passes - passes))
        return self._is_known(seen)

    def _dwindled(self) -> bool:
        optimizer = None if self._optimizer is None else self._optimizer()
        rate = None if optimizer is None else optimizer.param_groups[0].get("lr")
        if type(rate) is not float:
            return False
        self._rate = max(self._rate, rate)
        return rate < _DWINDLED * self._rate

    def _is_known(self, seen: dict[str, int]) -> bool:
        """Was all of this seen before? (What is seen first is usual, unless it is strange.)"""
        for what, value in seen.items():
            known = self._known.setdefault(what, {0} if what in _STRANGE else set())
            self._unlike = self._unlike or (value not in known and len(known) > 0)
            known.add(value)
        return not self._unlike

    def rest_backward_began(self, tensors: Any, *_: Any) -> None:
        """A pass is told: perhaps this is why, or it begins with a tensor that was not computed."""
        if engine.is_tensor(tensors[0]) and engine.node(tensors[0]) is None:
            self._is_known({"leaf": True})
        if self._unlike and self._changes < _CHANGES:
            self._unlike = False
            self._changes += 1
            self._ledger.session.begin_phase()

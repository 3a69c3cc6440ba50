"""When a session at rest wakes: as often as `SHARE` of the time that the program itself takes allows.

What a wake costs is measured, and what a step takes at rest; where a step takes 10 µs there are thousands between two wakes, and
in a training of a transformer some hundred. What cannot wait so long is seen at a glance (glance.py).
"""

from __future__ import annotations

from time import process_time

from .. import engine

FIRST = 64  # passes at rest until the session wakes for the first time, and the least between two wakes
EARLY = 256  # the pass at which an early rest ends, whatever that costs: it has not heard much so far
_MOST = 16384  # the most
SHARE = 0.007  # of the time at rest
_AFTER = 100e-6  # seconds, in all, that the steps after a wake take longer until all runs as before
_UNKNOWN = 8  # passes between the first two glances, which tell how long one takes
# Seconds between two glances (one takes some 15 µs, whose code the caches have forgotten), and passes, at most,
_GLANCE, _SELDOM = 2e-3, 128
_LATE, _PART = 8e-3, 32  # and later: so many seconds, if that is no larger part of all passes so far
_ENOUGH = 16  # passes that tell how long one takes
_CYCLE = 64  # where an engine tells some steps only: those after which the session wakes for a while,
_LONG = 9  # and bits of a count from which on it wakes less and less often: four to eight times while the count doubles


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
        left = EARLY - passes if passes < EARLY else left
        self.at, self.overdue, self._rested = passes + left, False, (now, passes)

    def pause(self, passes: int) -> int:
        """How many passes there are between two glances."""
        if not self._pass:
            return _UNKNOWN
        soon, late = min(_SELDOM, int(_GLANCE / self._pass)), int(_LATE / self._pass)
        return max(soon, min(passes // _PART, late))

    def settled(self, passes: int) -> None:
        """All runs as before now: what a pass takes is measured from here on."""
        self._rested = process_time(), passes

    def measure(self, passes: int) -> bool:
        """A second glance: does it tell for the first time how long a pass takes?"""
        if self._pass or self._rested is None or passes <= self._rested[1]:
            return False
        time, before = self._rested
        self._pass = (process_time() - time) / (passes - before)
        return True

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

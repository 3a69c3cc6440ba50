"""Levels: the calls of mapped functions that are under way, and how they draw random numbers."""

from __future__ import annotations

import itertools
import threading

from ...errors import EngineError


class Mapped:
    """An array of all samples (array.py): what asks whether it meets one need not load what computes with them."""

    __slots__ = ()


class Level:
    """One call of a mapped function: how many samples, and how random numbers are drawn. A level that began later lies inside."""

    __slots__ = ("__weakref__", "randomness", "serial", "size")

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness
        self.serial = next(_serials)

    def __repr__(self) -> str:
        return f"<level {self.serial} of {self.size} samples>"


_serials = itertools.count(1)


class _Open(threading.local):
    levels: tuple[Level, ...] = ()  # of this thread, the innermost last


open_levels = _Open()

RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def refuse_randomness(level: Level) -> None:
    """Random numbers of a level have to be asked for: the same for all samples, or different ones."""
    if level.randomness == "error":
        raise EngineError(RANDOM)

"""A collection of objects that does not keep them alive, and that another thread may add to while it is looked through."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any


class Alive:
    """Those of the objects that were added which are still there, in the order in which they came."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Any]] = {}

    def add(self, thing: Any) -> None:
        """Remember an object."""
        key = id(thing)
        self._known[key] = weakref.ref(thing, lambda _: self._known.pop(key, None))

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self._known.values()):  # copied in one go: no other thread can come between
            thing = reference()
            if thing is not None:
                yield thing

    def __len__(self) -> int:
        return len(self._known)

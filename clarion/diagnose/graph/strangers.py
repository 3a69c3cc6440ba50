"""Parameters that an optimizer does not move, and that somebody else does: targets, moving averages, hand-written updates."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..books.ledger import Ledger


def version(leaf: Any) -> Any:
    """Changes whenever somebody writes to the leaf, openly or through `.data`."""
    counter = leaf._vc
    return (id(leaf._array), counter.n, counter.silent) if counter is not None else (id(leaf._array), 0, 0)


class Written:
    """Leaves that somebody has written to since they were first asked about."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def has(self, leaf: Any) -> bool:
        """Was it written to?"""
        known = self._first.get(id(leaf))
        if known is None or known[0]() is not leaf:
            self._first[id(leaf)] = (weakref.ref(leaf), version(leaf))
            return False
        return bool(known[1] != version(leaf))


def is_owned(leaf: Any, ledger: Ledger) -> bool:
    """Does an optimizer own it, or did one ever?"""
    if leaf._story is not None and leaf._story.owner is not None:
        return True
    for optimizer in list(ledger.optimizers):
        for group in optimizer.param_groups:
            if any(leaf is other for other in group["params"]):  # a group that was added later
                leaf._story.owner = weakref.ref(optimizer)
                return True
    return False


class Copies:
    """Leaves that begin with the values of another leaf: copies of a network, which are not meant to be trained."""

    def __init__(self) -> None:
        self._found: dict[int, weakref.ref[Any]] = {}

    def is_copy(self, leaf: Any) -> bool:
        """Was this leaf a copy of one that is trained, before the first update?"""
        reference = self._found.get(id(leaf))
        return reference is not None and reference() is leaf

    def look(self, optimizer: Any, ledger: Ledger) -> None:
        """Before the first update of an optimizer: which of its leaves are copies of those that get a gradient?"""
        trained: dict[Any, list[Any]] = {}
        others: list[Any] = []
        for each in {optimizer, *ledger.optimizers}:
            for group in each.param_groups:
                for leaf in group["params"]:
                    if leaf._grad is None and each is optimizer:
                        others.append(leaf)
                    elif leaf._grad is not None:
                        trained.setdefault(leaf._array.shape, []).append(leaf)
        for leaf in others:
            twins = trained.get(leaf._array.shape, ())
            if (
                leaf._array.size > 1
                and np.ptp(leaf._array)
                and any(np.array_equal(leaf._array, t._array) for t in twins)
            ):
                self._found[id(leaf)] = weakref.ref(leaf)

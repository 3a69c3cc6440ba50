"""Parameters that an optimizer does not move, and that somebody else does: targets, moving averages, hand-written updates."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine

if TYPE_CHECKING:
    from ..books.ledger import Ledger


class Written:
    """Leaves that somebody has written to since they were first asked about."""

    def __init__(self) -> None:
        self._first: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def has(self, leaf: Any) -> bool:
        """Was it written to?"""
        known = self._first.get(id(leaf))
        if known is None or known[0]() is not leaf:
            self._first[id(leaf)] = (weakref.ref(leaf), engine.version(leaf))
            return False
        return bool(known[1] != engine.version(leaf))


def is_owned(leaf: Any, ledger: Ledger) -> bool:
    """Does an optimizer own it, or did one ever?"""
    if engine.story(leaf) is not None and engine.story(leaf).owner is not None:
        return True
    for optimizer in list(ledger.optimizers):
        for group in optimizer.param_groups:
            if any(leaf is other for other in group["params"]):  # a group that was added later
                engine.story(leaf).owner = weakref.ref(optimizer)
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
                    if engine.grad(leaf) is None and each is optimizer:
                        others.append(leaf)
                    elif engine.grad(leaf) is not None:
                        trained.setdefault(engine.shape(leaf), []).append(leaf)
        for leaf in others:
            twins = trained.get(engine.shape(leaf), ())
            values = engine.array(leaf) if twins else np.empty(0)  # (of some subclasses there are none to be had)
            if (
                values.size > 1
                and (values != values.flat[0]).any()
                and any(np.array_equal(values, engine.array(t)) for t in twins)
            ):
                self._found[id(leaf)] = weakref.ref(leaf)

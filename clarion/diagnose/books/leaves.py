"""Which leaves there are, by the memory that they lie in."""

from __future__ import annotations

import weakref
from typing import Any

from .. import engine
from .records import APPLIED, Story

_FEW = 8  # leaves whose gradients are looked at


def story_of(leaf: Any) -> Story:
    """The story of a leaf, begun on first need."""
    found: Story | None = engine.story(leaf)
    if found is None:
        found = Story()
        engine.set_story(leaf, found)
    return found


def use_others(story: Story) -> None:
    """The gradients of earlier passes, that lie where the last one's do, are used along with it."""
    for backward in story.others or ():
        backward.used = APPLIED
    story.others = None


def has_gradient(optimizer: Any) -> bool:
    """Does any parameter of an optimizer have a gradient?"""
    return any(engine.grad(leaf) is not None for group in optimizer.param_groups for leaf in group["params"])


class KnowsLeaves:
    """A book that knows the leaves which had a gradient."""

    def __init__(self) -> None:
        self._by_memory: dict[Any, weakref.ref[Any]] = {}

    def is_trained(self, tensor: Any) -> bool:
        """Is this the memory of a leaf that an optimizer has updated?"""
        key = engine.memory(tensor)
        known = self._by_memory.get(key)
        leaf = known() if known is not None else None
        return leaf is not None and engine.memory(leaf) == key and engine.story(leaf).owner is not None

    def some_leaves(self, count: int) -> list[Any]:
        """Leaves that had a gradient."""
        return [leaf for known in list(self._by_memory.values())[:count] if (leaf := known()) is not None]

    def is_added_to(self) -> bool:
        """Does a pass begin with gradients that are there already? (Some accumulate on purpose; not often is it asked.)"""
        found = [
            grad for leaf in self.some_leaves(_FEW) if (grad := engine.grad(leaf)) is not None and not engine.late(grad)
        ]
        return any(square != 0.0 for square in engine.squares(found))

    def forget_updates_by_hand(self) -> None:
        """Who cleared what, and when, is not known any more of leaves that no optimizer owns."""
        for known in tuple(self._by_memory.values()):
            leaf = known()
            story = None if leaf is None else engine.story(leaf)
            if story is not None and story.owner is None:
                story.consumed = story.fresh = False
                story.stale_run = 0

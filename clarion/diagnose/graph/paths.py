"""Where a value comes from: walking a graph backwards through operations that leave its kind as it is."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from .. import engine
from ..engine import Node
from .reach import operation
from .traits import having

MOVING = having("rearranges")
_JOINING = having("joins")
_FAR = 16  # nodes that are looked at, one behind the other


def origin(node: Any, wanted: Callable[[str], bool], through: Container[str] = MOVING) -> Node | None:
    """The nearest node whose operation is wanted, on the way back from `node` through operations in `through` only.

    What was put together (`cat`, `stack`) has an origin only if all its parts have one.
    """
    for _ in range(_FAR):
        name = operation(node)
        if wanted(name):
            found: Node = node
            return found
        if name not in through:
            return None
        edges = [edge for edge in node.edges if engine.is_node(edge)]
        if len(edges) != 1:
            origins = [origin(edge, wanted, through) for edge in edges[:_FAR]]
            together = name in _JOINING
            some = next((found for found in origins if found is not None), None)
            return None if together and None in origins else some
        node = edges[0]
    return None

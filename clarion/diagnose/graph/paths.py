"""Where a value comes from: walking a graph backwards through operations that leave its kind as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.node import Node
from .reach import operation

# Operations that move values and change none (among those that a node can stand for).
MOVING = frozenset(
    [
        *(
            "alias",
            "as_strided",
            "cast",
            "cat",
            "clone",
            "diagonal",
            "expand",
            "flip",
            "gather",
            "index1",
            "index2",
            "index3",
        ),
        *(
            "index_mask",
            "index_select",
            "masked_select",
            "narrow_copy",
            "permute",
            "repeat",
            "reshape",
            "roll",
            "select",
        ),
        *(
            "slice",
            "split",
            "split_with_sizes",
            "squeeze",
            "squeeze_dim",
            "squeeze_dims",
            "stack",
            "t",
            "take",
            "transpose",
        ),
        *("unbind", "unsqueeze", "view"),
    ]
)
_FAR = 16  # nodes that are looked at, one behind the other


def origin(node: Any, wanted: Callable[[str], bool], through: frozenset[str] = MOVING) -> Node | None:
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
        edges = [edge for edge in node.edges if isinstance(edge, Node)]
        if len(edges) != 1:
            origins = [origin(edge, wanted, through) for edge in edges[:_FAR]]
            together = name in ("cat", "stack")
            some = next((found for found in origins if found is not None), None)
            return None if together and None in origins else some
        node = edges[0]
    return None

"""Facts about graphs that several rules ask for: what is reachable, how old it is, how much memory it keeps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.node import FREED, Node
from ...core.op import Op
from ...core.tensor import Tensor


def node_of(root: Any) -> Node | None:
    """The node of a tensor, of a GradientEdge, or the node itself; None for a leaf."""
    if isinstance(root, Node):
        return root
    found: Node | None = root._edge if isinstance(root, Tensor) else root.node
    return found


def operation(node: Any) -> str:
    """The name of a node's operation; empty for a leaf or a custom Function."""
    op = getattr(type(node), "op", None)
    return op.name if isinstance(op, Op) else ""


def reachable(roots: Iterable[Any], oldest: int | None = None) -> Iterator[Node]:
    """The nodes that a backward pass from `roots` would meet; with `oldest`, none with a larger sequence number.

    Sequence numbers fall, and a node is younger than all it was computed from: behind an old node everything is older.
    """
    stack = [node for node in map(node_of, roots) if node is not None]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen or (oldest is not None and node.seq > oldest):
            continue
        seen.add(node)
        yield node
        for edge in node.edges:
            if edge is not None and edge.seq is not None and edge not in seen:
                stack.append(edge)


def birth(seq: int, marks: Sequence[int]) -> int:
    """How many of the marks (falling numbers, see `Ledger.round_marks`) were set before the node with this number."""
    return bisect_left(marks, -seq, key=lambda mark: -mark)


def is_freed(node: Node, limit: int = 2_000) -> bool:
    """Has a backward pass released what this node, or one behind it, had saved?"""
    for count, found in enumerate(reachable([node])):
        if found.saved is FREED:
            return True
        if count > limit:
            break
    return False


def saved_bytes(nodes: Iterable[Node]) -> int:
    """The memory of the intermediate values that these nodes keep."""
    arrays: dict[int, int] = {}
    for node in nodes:
        for value in node.saved or ():
            if isinstance(value, Tensor):
                if value._edge is None:
                    continue  # a leaf or an input: it lives anyway
                value = value._array
            if isinstance(value, np.ndarray):
                whole = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
                arrays[id(whole)] = whole.nbytes
    return sum(arrays.values())


def size_text(count: float) -> str:
    """`1.5 MB`"""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"

"""Facts about graphs that several rules ask for: what is reachable, how old it is, how much memory it keeps."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .. import engine
from ..engine import Node


def operation(node: Any) -> str:
    """The name of a node's operation; empty for a leaf or a custom Function."""
    found: str = engine.operation(node)
    return found


def reachable(roots: Iterable[Any], oldest: int | None = None) -> Iterator[Node]:
    """The nodes that a backward pass from `roots` would meet; with `oldest`, none with a larger sequence number.

    Sequence numbers fall, and a node is younger than all it was computed from: behind an old node everything is older.
    """
    stack = [node for node in map(engine.node_of, roots) if node is not None]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen or (oldest is not None and node.seq > oldest):
            continue
        seen.add(node)
        yield node
        for edge in node.edges:
            if engine.is_node(edge) and edge not in seen:
                stack.append(edge)


def birth(seq: int, marks: Sequence[int]) -> int:
    """How many of the marks (falling numbers, see `Ledger.round_marks`) were set before the node with this number."""
    return bisect_left(marks, -seq, key=lambda mark: -mark)


def is_freed(node: Node, limit: int = 2_000) -> bool:
    """Has a backward pass released what this node, or one behind it, had saved?"""
    for count, found in enumerate(reachable([node])):
        if engine.is_freed(found):
            return True
        if count > limit:
            break
    return False


def saved_bytes(nodes: Iterable[Node]) -> int:
    """The memory of the intermediate values that these nodes keep."""
    kept: dict[Any, int] = {}
    for node in nodes:
        kept.update((key, size) for key, size, intermediate in engine.saved_memory(node) if intermediate)
    return sum(kept.values())


def size_text(count: float) -> str:
    """`1.5 MB`"""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"

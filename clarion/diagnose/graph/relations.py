"""How the parameters that nobody trains stand to those that are trained, in the graph of a loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import engine
from .reach import operation, reachable
from .traits import having

APPLIED = "applied"  # a layer on top of what trained parameters computed
UPSTREAM = "upstream"  # trained layers are applied to what it computed
PARALLEL = "parallel"  # a branch of its own, which meets that of trained parameters
TERM = "term"  # such a branch, and a term of the loss all by itself
WEIGHT = "weight"  # it stands where a layer has its weight
COMPILED = "compiled"  # they are inputs of one compiled function: how they stand to each other is not known

# Operations of layers: the first operand is what the layer is applied to, the others are its parameters.
_MATRIX = having("product", but="accumulates")
_LAYERS = having("product layer", but="accumulates")
_SAME = having("reshapes")
_SUMS, _SCALED = having("adds"), having("arithmetic")
_WHOLE = "CompiledFunction"  # the class of the node that a compiled function makes


class _Flow:
    """What a node was computed from: leaves that are asked for and have met no trained one yet, and trained ones."""

    __slots__ = ("alone", "asked", "trained")

    def __init__(self, asked: frozenset[int], trained: bool, alone: bool) -> None:
        self.asked, self.trained = asked, trained
        self.alone = alone  # is it a leaf itself, or only another shape of one?


_NOTHING = _Flow(frozenset(), False, False)


def relations(root: Any, asked: dict[int, Any], is_trained: Callable[[Any], bool]) -> dict[int, set[str]]:
    """For each leaf that is asked for (by id): how it meets trained leaves, on every way to the root."""
    found: dict[int, set[str]] = {key: set() for key in asked}
    flows: dict[Any, _Flow] = {}
    known: dict[int, _Flow] = {}
    sums = _sums_of(root)

    def flow_of(edge: Any) -> _Flow:
        if edge is None:
            return _NOTHING
        if engine.is_node(edge):
            return flows.get(edge, _NOTHING)
        if id(edge) not in known:
            here = frozenset([id(edge)]) if asked.get(id(edge)) is edge else frozenset()
            known[id(edge)] = _Flow(here, not here and is_trained(edge), True)
        return known[id(edge)]

    for node in sorted(reachable([root]), key=lambda n: -n.seq):  # the oldest first: inputs before what uses them
        op = engine.op(node)
        name = op.name if op is not None else ""
        parts = [flow_of(edge) for edge in node.edges]
        for position, part in enumerate(parts):
            if position and part.alone and part.asked and name in _MATRIX:
                for key in part.asked:
                    found[key].add(WEIGHT)
        if engine.title(node).startswith(_WHOLE):
            flows[node] = _whole(parts, found)
        else:
            flows[node] = _merge(parts, found, len(node.edges) == 1 and name in _SAME, name in _LAYERS, node in sums)
    return found


def _sums_of(root: Any) -> set[Any]:
    """The nodes that add up the terms of a loss."""
    found: set[Any] = set()
    stack = [engine.node(root)] if engine.size(root) == 1 else []
    while stack:
        node = stack.pop()
        name, edges = operation(node), [edge for edge in node.edges if edge is not None]
        if name in _SUMS:
            found.add(node)
        elif name not in _SCALED or len(edges) != 1:
            continue
        stack += [edge for edge in edges if engine.is_node(edge) and edge not in found]
    return found


def _whole(parts: list[_Flow], found: dict[int, set[str]]) -> _Flow:
    """What was compiled is one node."""
    asked = frozenset().union(*[part.asked for part in parts])
    trained = any(part.trained for part in parts)
    if trained:
        for key in asked:
            found[key].add(COMPILED)
    return _Flow(frozenset() if trained else asked, trained, False)


def _merge(parts: list[_Flow], found: dict[int, set[str]], same: bool, layer: bool, adds_terms: bool) -> _Flow:
    trained = [part for part in parts if part.trained]
    asking = [part for part in parts if part.asked]
    if not trained:
        asked = frozenset().union(*[part.asked for part in asking]) if asking else frozenset()
        return _Flow(asked, False, same and parts[0].alone)
    bare = all(other.alone for other in trained)
    for part in asking:
        if layer and bare and part is parts[0]:
            relation = UPSTREAM
        elif part.alone or (len(part.asked) == 1 and not bare):
            relation = APPLIED
        else:
            relation = UPSTREAM if bare else TERM if adds_terms else PARALLEL
        for key in part.asked:
            found[key].add(relation)
    return _Flow(frozenset(), True, same and parts[0].alone)

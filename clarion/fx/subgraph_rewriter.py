"""`torch.fx.subgraph_rewriter`: a pattern in a graph, replaced wherever it occurs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..absent import rest
from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import InternalMatch, SubgraphMatcher


class Match(NamedTuple):
    """Where the pattern was found: the pattern's last node, and which node stands for which of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """Where the pattern was found, and what is there now."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Put `replacement` wherever `pattern` occurs. Both are functions or modules with the same arguments."""
    return [Match(each.anchor, each.nodes_map) for each in _replace(gm, pattern, replacement, None, False)]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None, ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None, node_name_match: str = "",
) -> list[ReplacedPatterns]:  # fmt: skip
    """`replace_pattern` where all filters agree; the callback may make a replacement for each occurrence."""
    return _replace(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


def _graph_of(what: Any) -> Graph:
    if isinstance(what, GraphModule):
        return what.graph
    return what if isinstance(what, Graph) else symbolic_trace(what).graph


def _replace(
    gm: GraphModule, pattern: Any, replacement: Any, filters: Any, ignore_literals: bool, callback: Any = None
) -> list[ReplacedPatterns]:
    original = gm.graph
    small = _graph_of(pattern)
    matcher = SubgraphMatcher(small, ignore_literals=ignore_literals)
    matches = [
        match for match in matcher.match(original) if all(agrees(match, original, small) for agrees in (filters or ()))
    ]
    given = None if replacement is None else _graph_of(replacement)
    now: dict[Node, Node] = {}  # nodes that earlier replacements have replaced
    found = []
    for match in matches:
        graph = callback(match, original, small) if callback is not None else given
        if graph is None:
            raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
        found.append(_put(original, match, graph, now))
    gm.recompile()
    if isinstance(replacement, Module):
        _adopt(gm, replacement)
    elif given is not None and isinstance(given.owning_module, Module):
        _adopt(gm, given.owning_module)
    return found


def _put(original: Graph, match: InternalMatch, graph: Graph, now: dict[Node, Node]) -> ReplacedPatterns:
    """Put a copy of `graph` in the place of one occurrence."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    if len(match.placeholder_nodes) != len(placeholders):
        raise AssertionError("the pattern and its replacement must have the same arguments")
    standing: dict[Node, Any] = {}
    for own, given in zip(placeholders, match.placeholder_nodes, strict=True):
        standing[own] = now.get(given, given) if isinstance(given, Node) else given
        if isinstance(given, Node) and own.op != "placeholder":
            standing[own].meta = copy.copy(given.meta)
    inside = {node for node in match.nodes_map.values() if isinstance(node, Node)}
    first = _insertion_point(original, match, standing, inside)
    with original.inserting_before(first):
        copied = original.graph_copy(graph, standing)
    results = list(copied) if isinstance(copied, tuple | list) else [copied]
    made = [node for own, node in standing.items() if own.op != "placeholder" and isinstance(node, Node)]
    if len(match.returning_nodes) != len(results):
        raise AssertionError("the pattern and its replacement must return as many values")
    for old, new in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        now[old] = new
    steps = {node for own, node in match.nodes_map.items() if own.op not in ("placeholder", "output")}
    for node in reversed(original.nodes):
        if node in steps and not node.users:
            original.erase_node(node)
    return ReplacedPatterns(match.anchors[0], match.nodes_map, made)


def _insertion_point(original: Graph, match: InternalMatch, standing: dict[Node, Any], inside: set[Node]) -> Node:
    """Before the first user of a result, but after all that goes in."""
    returned = match.returning_nodes
    users = {user for node in returned for user in node.users if user not in inside}
    for node in original.nodes:
        if node in users:
            return node
    return original.output_node() if not users else returned[0].next


def _adopt(gm: GraphModule, replacement: Module) -> None:
    """The module holds what the steps of the replacement need."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        try:
            _reach(gm, node.target)
        except AttributeError:
            found = _reach(replacement, node.target)
            if isinstance(found, Module):
                gm.add_submodule(node.target, copy.deepcopy(found))
            else:
                *prefix, name = node.target.split(".")
                setattr(gm.get_submodule(".".join(prefix)), name, copy.deepcopy(found))
    gm.graph.lint()


def _reach(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


__getattr__ = rest(__name__)

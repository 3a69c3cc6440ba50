"""`torch.fx.passes.utils.matcher_utils`: where a small graph occurs in a large one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ....absent import rest
from ...graph import Graph
from ...node import Node


@dataclass
class InternalMatch:
    """One occurrence: which node of the large graph stands for which of the small one."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, dict(self.nodes_map), list(self.placeholder_nodes), list(self.returning_nodes)
        )


class SubgraphMatcher:
    """Finds the occurrences of a pattern. Its placeholders match anything; all else must be the same step."""

    def __init__(
        self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
        remove_overlapping_matches: bool = True, ignore_literals: bool = False,
    ) -> None:  # fmt: skip
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op not in ("output", "placeholder") and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        output = pattern.output_node()
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:
            self.pattern_anchors = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All occurrences, in the order of the graph; none overlaps an earlier one."""
        candidates = [
            (anchor, [node for node in graph.nodes if self._same_step(anchor, node)]) for anchor in self.pattern_anchors
        ]
        found: list[InternalMatch] = []
        self._combine(candidates, 0, InternalMatch(anchors=list(self.pattern_anchors)), found)
        found = [match for match in found if self._contained(match.nodes_map)]
        taken: set[Any] = set()
        kept = []
        for match in found:
            inner = {
                node for own, node in match.nodes_map.items() if own.op not in ("placeholder", "output", "get_attr")
            }
            if self.remove_overlapping_matches and inner & taken:
                continue
            taken |= inner
            match.placeholder_nodes = [
                match.nodes_map[node] for node in self.pattern_placeholder_nodes if node in match.nodes_map
            ]
            match.returning_nodes = [match.nodes_map[node] for node in self.pattern_returning_nodes]
            kept.append(match)
        return kept

    def _combine(
        self, candidates: list[tuple[Node, list[Node]]], at: int, match: InternalMatch, found: list[InternalMatch]
    ) -> None:
        """Try each node for each anchor."""
        if at == len(candidates):
            found.append(match)
            return
        anchor, nodes = candidates[at]
        for node in nodes:
            trial = match.__copy__()
            if self._match_nodes(anchor, node, trial):
                self._combine(candidates, at + 1, trial, found)

    def _same_step(self, own: Node, node: Node) -> bool:
        if not self.match_placeholder and own.op == "placeholder":
            return True
        if own.op != node.op:
            return False
        if own.op in ("placeholder", "output"):
            return True
        if own.op == "get_attr":
            return self._same_attribute(own, node)
        return bool(own.target == node.target)

    def _same_attribute(self, own: Node, node: Node) -> bool:
        """The same path, or a tensor in the same place (patterns hold tensors of their own)."""
        from ....core.tensor import Tensor

        if own.graph.owning_module is None or node.graph.owning_module is None:
            return bool(own.target == node.target)
        ours, theirs = (_attribute(each.graph.owning_module, each.target) for each in (own, node))
        return type(ours) is type(theirs) and (isinstance(ours, Tensor) or own.target == node.target)

    def _match_nodes(self, own: Node, node: Any, match: InternalMatch) -> bool:
        if not isinstance(node, Node):
            return False
        if own in match.nodes_map:
            return match.nodes_map[own] is node
        if node in match.nodes_map.values() or not self._same_step(own, node):
            return False
        kept = dict(match.nodes_map)
        match.nodes_map[own] = node
        if own.op == "placeholder":
            return True
        if self._match_arguments(own, node, match):
            return True
        match.nodes_map = kept
        return False

    def _match_arguments(self, own: Node, node: Node, match: InternalMatch) -> bool:
        ours, theirs = own.args, node.args
        our_names, their_names = own.kwargs, node.kwargs
        if own.op == "call_function" and (len(ours) != len(theirs) or our_names.keys() != their_names.keys()):
            first, second = (each.normalized_arguments(None, normalize_to_only_use_kwargs=True) for each in (own, node))
            if first is None or second is None:
                return False
            ours, our_names, theirs, their_names = first.args, first.kwargs, second.args, second.kwargs
        if len(ours) != len(theirs) or our_names.keys() != their_names.keys():
            return False
        return self._match_value(ours, theirs, match) and all(
            self._match_value(our_names[name], their_names[name], match) for name in our_names
        )

    def _match_value(self, own: Any, value: Any, match: InternalMatch) -> bool:
        if isinstance(own, Node):
            return (
                self._match_nodes(own, value, match)
                if isinstance(value, Node)
                else self._match_literal(own, value, match)
            )
        if isinstance(value, Node):
            return False
        if isinstance(own, tuple | list):
            return (
                isinstance(value, tuple | list)
                and len(own) == len(value)
                and all(self._match_value(a, b, match) for a, b in zip(own, value, strict=True))
            )
        if isinstance(own, slice):
            return isinstance(value, slice) and self._match_value(
                (own.start, own.stop, own.step), (value.start, value.stop, value.step), match
            )
        return self.ignore_literals or (type(own) is type(value) and own == value)

    def _match_literal(self, own: Node, value: Any, match: InternalMatch) -> bool:
        """A placeholder of the pattern may stand for a number or a text."""
        if own.op != "placeholder":
            return False
        if own in match.nodes_map:
            return type(match.nodes_map[own]) is type(value) and match.nodes_map[own] == value
        match.nodes_map[own] = value
        return True

    def _contained(self, nodes_map: dict[Node, Any]) -> bool:
        """Are the results inside the occurrence used inside it only?"""
        inside = {node for node in nodes_map.values() if isinstance(node, Node)}
        returned = {nodes_map.get(node) for node in self.pattern_returning_nodes}
        for own, node in nodes_map.items():
            if own.op in ("placeholder", "output", "get_attr") or not isinstance(node, Node) or node in returned:
                continue
            if any(user not in inside for user in node.users):
                return False
        return True


def _attribute(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


__getattr__ = rest(__name__)

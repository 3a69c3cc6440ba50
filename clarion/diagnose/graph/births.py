"""Where a non-finite value was born: the values of a live graph, from the oldest operation to the root.

A node keeps only what its gradient needs. The value of the others is what a consumer kept, or is computed again from the
inputs; where neither goes (a constant that was not kept, a custom Function, a checkpointed region) it stays unknown, and
the blame falls on the last operation that can be meant.

Infinities that the user put in (`masked_fill(mask, -inf)`, a mask added to scores) are no fault by themselves: the
operation that makes NaN of them is.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from .. import engine
from ..engine import LOST, Node
from ..source.places import Place
from .reach import operation, reachable
from .traits import having

FINITE, INFINITE, NAN = 0, 1, 2
COMPUTED, DATA, LEAF, MASK, SUSPECT = "computed", "data", "leaf", "mask", "suspect"

# What they make of finite inputs is finite, but for an overflow; a constant operand may not have been kept.
_PLAIN = having("arithmetic total multiplies product clamps rectifier", also="abs", but="quotient")
_SELECTS = having("selects")
_QUOTIENTS = having("quotient")
_LAYERS = having("layer")

# Those whose derivative by one input is the other (the parameters of a layer are finite).
_SCALES = having("multiplies product", but="layer")


class Origin(NamedTuple):
    """Where it began: at a node, by computation, or because an input (number `position`) was non-finite already."""

    node: Node
    kind: str
    position: int = -1


class Birth(NamedTuple):
    """What a report needs of an origin."""

    node: Node
    kind: str
    operands: list[Any]  # arrays, numbers, None where unknown
    output: Any
    position: int


def grade(value: Any) -> int:
    """FINITE, INFINITE (and no NaN), or NAN."""
    if not isinstance(value, np.ndarray):
        value = np.asarray(value)
    if value.dtype.kind not in "fcV" or not value.size:
        return FINITE
    if value.dtype.kind == "V" or value.dtype.itemsize == 2:
        value = value.astype(np.float32)
    if np.isfinite(value).all():
        return FINITE
    return NAN if np.isnan(value).any() else INFINITE


def find_birth(root: Any, noted: Container[Place] = ()) -> Birth | None:
    """Where the non-finite value of a tensor was born; None if its graph does not tell.

    `noted`: lines with a floating-point error on the way, which tell of operations whose values were not kept.
    """
    if engine.node(root) is None:
        return None
    with engine.quiet():
        return _Values(root, noted).birth()


class _Values:
    """The outputs of all nodes behind a root, and where each non-finite one comes from."""

    def __init__(self, root: Any, noted: Container[Place]) -> None:
        self._noted = noted
        self._nodes = sorted(reachable([root]), key=lambda node: node.seq, reverse=True)  # the oldest first
        self._kept: dict[tuple[Node, int], Any] = {}
        self._origins: dict[tuple[Node, int], Origin] = {}
        self._end = engine.node(root), engine.output_number(root)
        self._kept[self._end] = engine.array(root)
        for node in self._nodes:  # what a node kept: its own outputs, and its inputs, which are outputs of others
            for key, value in engine.kept(node):
                self._kept.setdefault(key, value)

    def birth(self) -> Birth | None:
        for node in self._nodes:
            self._judge(node)
        origin = self._origins.get(self._end)
        if origin is None:
            return None
        operands = [None if value is LOST else value for value in self._operands(origin.node)]
        return Birth(origin.node, origin.kind, operands, self._kept.get((origin.node, 0)), origin.position)

    # Values --------------------------------------------------------------------------------------

    def _operands(self, node: Node) -> list[Any]:
        found = engine.operands(node)
        for i, edge in enumerate(node.edges):
            if found[i] is LOST and engine.is_node(edge):
                found[i] = self._kept.get((edge, _number(node, i)), LOST)
        return list(found)

    def _compute(self, node: Node, operands: list[Any]) -> None:
        """Compute the outputs of a node again, if all its inputs are known."""
        for nr, out in enumerate(engine.compute(node, operands) or ()):
            self._kept.setdefault((node, nr), out)

    # Judgement -----------------------------------------------------------------------------------

    def _judge(self, node: Node) -> None:
        operands = self._operands(node)
        if (node, 0) not in self._kept or node.n_out > 1:
            self._compute(node, operands)
        bad: list[Origin] = []
        masks: list[Origin] = []
        suspects: list[Origin] = []
        for i, value in enumerate(operands):
            origin = self._of_input(node, i, value)
            if origin is not None:
                group = suspects if origin.kind == SUSPECT else masks if origin.kind == MASK else bad
                group.append(origin)
        unknown_constant = any(value is LOST and edge is None for value, edge in zip(operands, node.edges, strict=True))
        for nr in range(node.n_out):
            found = self._origin(node, nr, bad, masks, suspects, unknown_constant)
            if found is not None:
                self._origins[node, nr] = found

    def _of_input(self, node: Node, i: int, value: Any) -> Origin | None:
        edge = node.edges[i]
        if engine.is_node(edge):
            return self._origins.get((edge, _number(node, i)))
        if value is LOST:
            return None
        found = grade(value)
        if found == FINITE:
            return None
        if engine.is_tensor(edge):
            return Origin(node, LEAF, i)
        # A mask is added to scores, or fills them; an infinity that weights are multiplied with is data.
        return Origin(node, MASK if found == INFINITE and operation(node) not in _LAYERS else DATA, i)

    def _origin(
        self,
        node: Node,
        nr: int,
        bad: list[Origin],
        masks: list[Origin],
        suspects: list[Origin],
        unknown_constant: bool,
    ) -> Origin | None:
        op = engine.op(node)
        plain = op is not None and (op.moves or op.name in _PLAIN)
        if (node, nr) not in self._kept:
            if not bad and not plain and (node.place in self._noted or self._divides_by_zero(node)):
                return Origin(node, COMPUTED)
            return _oldest(bad) or _oldest(masks) or _oldest(suspects) or Origin(node, SUSPECT)
        found = grade(self._kept[node, nr])
        if found == FINITE:
            return None
        if bad:
            return _oldest(bad)
        if masks:
            # An infinity that is handed on is still the user's; NaN is made here.
            return _oldest(masks) if found == INFINITE else Origin(node, COMPUTED, masks[0].position)
        if unknown_constant and plain and not self._overflows(node):
            return Origin(node, MASK if found == INFINITE else DATA)
        return (_oldest(suspects) if plain else None) or Origin(node, COMPUTED)

    def _divides_by_zero(self, node: Node) -> bool:
        """Whatever the numerator was (it was not kept), the quotient is not finite."""
        divisor = self._operands(node)[-1] if operation(node) in _QUOTIENTS else LOST
        return divisor is not LOST and not np.all(divisor)

    def _overflows(self, node: Node) -> bool:
        """Are the known inputs so large that the operation may have left the range of its type?"""
        for value in self._operands(node):
            if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
                if float(np.abs(value).max()) > 0.01 * float(np.finfo(value.dtype).max) ** 0.5:
                    return True
        return False


def hidden_behind_selection(root: Any) -> Node | None:
    """After a pass whose values are gone: the first operation behind a `where` (or the like) whose derivative depends on
    values. If something NaN was left out of the loss, this is where 0 times NaN came about."""
    for node in sorted(reachable([root]), key=lambda node: node.seq):
        if operation(node) in _SELECTS:
            stack = [edge for edge in node.edges if engine.is_node(edge)]
            while stack:
                behind = stack.pop()
                op = engine.op(behind)
                if op is None or not (op.moves or (op.name in _PLAIN and op.name not in _SCALES)):
                    return behind
                stack.extend(edge for edge in behind.edges if engine.is_node(edge))
    return None


def _number(node: Node, i: int) -> int:
    return 0 if node.nrs is None else node.nrs[i]


def _oldest(origins: list[Origin]) -> Origin | None:
    return max(origins, key=lambda origin: origin.node.seq) if origins else None

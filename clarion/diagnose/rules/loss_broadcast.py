"""loss-broadcast"""

from __future__ import annotations

import ast
import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import engine
from ..engine import Node, Tensor
from ..graph.reach import operation, reachable
from ..graph.traits import Having, having
from ..rule import Diagnosis
from ..source.places import Place, expression, here

_MOST = 64  # tables between two backward passes
_TIMES = 2  # backward passes through a hand-written loss, before it is said

# What may lie between a difference and the loss: functions of each element, sums and means.
_MEASURES = "rearranges arithmetic clamps rectifier selects total norm power root log size"
_MEASURING = having(_MEASURES, also="dot", but="gather expand")
_AFTER_PRODUCT = having(_MEASURES, also="dot exp logsigmoid", but="gather expand")
_EXPLICIT = having("", also="unsqueeze expand transpose permute t cdist outer")
_PRODUCTS = having("product", also="dot")
_SCALED = having("rearranges arithmetic")
_IN_WORDS = ("expand_as", "broadcast_to", "T", "mT")  # methods and attributes that say the same
_VERBS = {"sub": "subtracts", "add": "adds", "mul": "multiplies"}


class LossBroadcast(Diagnosis):
    """Prediction and target have different shapes, and the loss broadcasts them to each other.

    A column (N, 1) against a row (N,) makes a table (N, N): every prediction is compared with every target, and the best
    the model can do is to predict the mean of all targets.

    Broken:

        prediction = model(x)                          # (32, 1)
        loss = F.mse_loss(prediction, y)               # y: (32,)

    Fixed:

        loss = F.mse_loss(prediction.squeeze(1), y)    # both (32,)

    The same in losses by hand: `((prediction - y) ** 2).mean()`. Silent where the wish is written out (`expand`,
    `unsqueeze`, `x[:, None]` in the same expression), for single numbers, for what is the same for every row, and where a
    product of all pairs is added (`a² + b² - 2 a @ b.T`).
    """

    name = "loss-broadcast"
    why = "every prediction is compared with targets that are not its own: the model learns their mean."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._tables: list[_Table] = []  # made by hand since the last backward pass
        self._seen: dict[Place, int] = {}

    # Loss functions ------------------------------------------------------------------------------

    def on_stretched(self, input: Any, target: Any) -> None:
        """A loss function broadcast two shapes."""
        if not engine.recording():
            self._evaluated(input, target)
            return
        if not (engine.requires_grad(input) or engine.requires_grad(target)):
            return
        prediction, other = (input, target) if engine.requires_grad(input) else (target, input)
        a, b = engine.shape(prediction), engine.shape(other)
        try:
            size = math.prod(np.broadcast_shapes(a, b))
        except ValueError:  # the loss itself refuses them
            return
        if 1 in (math.prod(a), math.prod(b)) or size == math.prod(a) == math.prod(b):
            return
        place = here()
        if size == math.prod(a) and (_is_the_same_for_every_row(a, b) or _is_explicit(place)):
            return
        if size == math.prod(b) and _is_the_same_for_every_row(b, a):
            return
        self._say(place, "This loss compares", engine.shape(input), engine.shape(target))

    def _evaluated(self, input: Any, target: Any) -> None:
        """The same in an evaluation: one of the two comes from a model that is trained, and a table of both is a forgotten `squeeze`."""
        a, b = engine.shape(input), engine.shape(target)
        trained = self.ledger.unrecorded.is_trained
        if trained(input) is trained(target) or engine.by_library() or not _makes_a_table(a, b) or _is_explicit(here()):
            return
        self._say(here(), "This loss compares", a, b, "the number that it gives says nothing about the model.")

    # By hand -------------------------------------------------------------------------------------

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran: is it a difference (or a product) that makes a table of two lists?"""
        if op.name not in _VERBS or not engine.requires_grad(outs[0]) or len(self._tables) > _MOST:
            return
        x, y = inputs
        if not (engine.is_tensor(x) and engine.is_tensor(y)) or engine.shape(x) == engine.shape(y):
            return
        place = here()
        if place is None or not _makes_a_table(engine.shape(x), engine.shape(y)) or _is_explicit(place):
            return
        learned = _learned(x, y)
        if learned is None:
            return
        made_by = engine.node(learned)
        if op.name == "mul" and made_by is None:
            return  # a learned weight
        if (operation(made_by) in _EXPLICIT and made_by.code is place[0]) or engine.by_library():
            return
        self._tables.append(_Table(engine.node(outs[0]), op.name, place, engine.shape(x), engine.shape(y)))

    def near_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """Is the table what is summed up to the loss?"""
        if not self._tables:
            return
        tables, self._tables = self._tables, []
        for table in tables:
            made = table.node()
            through = _AFTER_PRODUCT if table.name == "mul" else _MEASURING
            if made is not None and any(_leads_to(root, made, through) for root in tensors):
                if any(_is_of_pairs(root, made, through) for root in tensors):
                    continue
                times = self._seen[table.place] = self._seen.get(table.place, 0) + 1
                if times >= _TIMES:
                    self._say(table.place, f"The loss comes from this line, which {_VERBS[table.name]}", *table.shapes)

    def _say(
        self, place: Place | None, what: str, a: tuple[int, ...], b: tuple[int, ...], why: str | None = None
    ) -> None:
        both = np.broadcast_shapes(a, b)
        extra = _extra_dimension(a, b)
        self.report(
            place,
            f"{what} shapes {tuple(a)} and {tuple(b)}: they are broadcast to {tuple(both)}, {math.prod(both)} pairs instead "
            f"of {min(math.prod(a), math.prod(b))}.",
            fix="give prediction and target the same shape; look at the size of the last layer and of the target."
            if extra is None
            else f"`.squeeze({extra})` on what has the shape {tuple(a if len(a) > len(b) else b)}, so that both have one shape.",
            why=why,
        )


class _Table:
    """A result larger than both operands, which have the same dimensions but for those of size 1."""

    def __init__(self, node: Node, name: str, place: Place, a: tuple[int, ...], b: tuple[int, ...]) -> None:
        self.node = weakref.ref(node)
        self.name, self.place, self.shapes = name, place, (a, b)


def _extra_dimension(a: tuple[int, ...], b: tuple[int, ...]) -> int | None:
    """Which dimension of size 1 the longer shape has and the shorter has not."""
    long, short = (a, b) if len(a) > len(b) else (b, a)
    for i, n in enumerate(long):
        if n == 1 and long[:i] + long[i + 1 :] == short:
            return i
    return None


def _learned(x: Tensor, y: Tensor) -> Tensor | None:
    """The one of two operands that is learned; None if both or neither is."""
    if engine.requires_grad(x) is engine.requires_grad(y):  # inputs may require a gradient, too
        learned = [value for value in (x, y) if engine.node(value) is not None and _is_trained(engine.node(value))]
        return learned[0] if len(learned) == 1 else None
    return x if engine.requires_grad(x) else y


def _is_trained(node: Node) -> bool:
    """Does a value come from a leaf that an optimizer owns?"""
    for each in reachable([node]):
        for edge in each.edges:
            if engine.is_tensor(edge) and engine.story(edge) is not None and engine.story(edge).owner is not None:
                return True
    return False


def _makes_a_table(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """(N, 1) and (N,), (B, 1, H, W) and (B, H, W): a forgotten `squeeze`."""
    if [n for n in a if n != 1] != [n for n in b if n != 1]:
        return False
    return math.prod(np.broadcast_shapes(a, b)) > math.prod(a)


def _is_the_same_for_every_row(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """(N, D) and (D,) or (1, D): one target for all."""
    length = max(len(a), len(b))
    pairs = zip((1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b, strict=True)
    kept = [n == m for n, m in pairs if max(n, m) > 1]
    return True not in kept or all(kept[kept.index(True) :])


def _leads_to(root: Any, node: Node, through: Having) -> bool:
    """Is a loss computed from a node by nothing but `through`?"""
    start = engine.node_of(root)
    return start is not None and _search(start, node, through)


def _search(start: Any, node: Node, through: Having) -> bool:
    return start is node or any(edge is node for this in _users(start, node, through) for edge in this.edges)


def _users(start: Any, node: Node, through: Having) -> Iterator[Node]:
    """What a loss is computed from by nothing but `through`, down to the age of a node."""
    waiting, seen = [start], set()
    while waiting:
        this = waiting.pop()
        if id(this) in seen or not engine.is_node(this) or this.seq >= node.seq:
            continue
        seen.add(id(this))
        if operation(this) in through:
            yield this
            waiting.extend(this.edges)


def _is_of_pairs(root: Any, node: Node, through: Having) -> bool:
    """Is a product of all pairs added to the table: squared distances, which are wanted of all pairs?"""
    for user in _users(engine.node_of(root), node, through):
        if any(edge is node for edge in user.edges):
            return any(_is_product(edge) for edge in user.edges if edge is not node)
    return False


def _is_product(edge: Any) -> bool:
    """A product of matrices, perhaps times a number?"""
    for _ in range(4):
        if not engine.is_node(edge) or operation(edge) in _PRODUCTS:
            break
        inner = [each for each in edge.edges if engine.is_node(each)] if operation(edge) in _SCALED else []
        edge = inner[0] if len(inner) == 1 else None
    return engine.is_node(edge) and operation(edge) in _PRODUCTS


def _is_explicit(place: Place | None) -> bool:
    """Does the expression say that it wants to broadcast?"""
    tree = expression(place)
    if tree is None:
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (node.attr in _IN_WORDS or node.attr in _EXPLICIT):
            return True
        if isinstance(node, ast.Subscript):
            index = node.slice
            if any(isinstance(each, ast.Constant) and each.value is None for each in ast.walk(index)):
                return True
    return False

"""One backward pass: its state, what it will reach, and what may be asked of the one that is running."""

from __future__ import annotations

import itertools
import operator
import threading
from typing import Any

from .. import errors
from .node import AccumulateGrad, Node
from .tensor import Tensor

Target = tuple[Any, int]


class Pass:
    """One backward pass: its switches, the gradients under way, and what is to be captured."""

    capture: dict[Any, list[int]] | None = None  # node, leaf or (node, output number) -> positions in the inputs
    captured: list[Any]
    needed: set[Any] | None = None  # with `inputs`: the nodes on a path to one of them (None: all)
    goals: set[Any]  # with `inputs`: the nodes and leaves they stand for
    wanted: set[Any] | None = None  # with backward(inputs=...): the leaves that accumulate
    uses: dict[Any, int] | None = None  # leaf -> contributions still to come, where that matters
    callbacks: list[Any] | None = None
    reached: set[Any] | None = None  # made when somebody asks: see will_reach
    roots: list[Target]
    depth = 1  # of backward inside backward
    recorded = True  # False: the gradients are Tensors because they have tangents, and not to be differentiated
    told = True  # False: it trains nothing and answers nobody (gradcheck's), so that events need not be told
    number = 0  # given when somebody asks: see current_run
    numbered: Any = frozenset()  # nodes of which another output than the first has got a gradient
    undefined: Any = frozenset()  # nodes that have their turn though no gradient reached them

    def __init__(self, retain: bool, create_graph: bool) -> None:
        self.retain = retain
        self.create_graph = create_graph
        self.grads: dict[Any, Any] = {}  # node, leaf or (node, output number) -> gradient so far


class _Running(threading.local):
    """The pass that is running in this thread."""

    this: Pass | None = None


running = _Running()
_next_number = itertools.count(1).__next__


def current_run() -> int:
    """A number for the backward pass that is running in this thread."""
    this = running.this
    if this is None:
        raise errors.EngineError("there is no backward pass under way in this thread")
    if this.number == 0:
        this.number = _next_number()
    return this.number


def will_reach(target: Any) -> bool:
    """Will the running pass deliver a gradient to this node or leaf?"""
    this = running.this
    assert this is not None
    if this.reached is None:
        this.reached = _reachable(this)
    return target in this.reached


def will_run(node: Any) -> bool:
    """Will the running pass come to this node? A leaf's counts where gradients are accumulated."""
    this = running.this
    if this is None:
        raise errors.EngineError("_get_should_execute_nodes should only be called during the backward pass")
    if not isinstance(node, AccumulateGrad):
        return will_reach(node) and (this.needed is None or node in this.needed)
    if this.capture is not None:
        raise errors.EngineError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return will_reach(node.variable)


def _reachable(this: Pass) -> set[Any]:
    """Everything that the pass delivers to, from its roots, within what is needed."""
    reached: set[Any] = set()
    stack = [target for target, _ in this.roots]
    while stack:
        target = stack.pop()
        if target in reached:
            continue
        reached.add(target)
        if isinstance(target, Node) and (this.needed is None or target in this.needed):
            stack.extend(edge for edge in target.edges if edge is not None)
    if this.needed is not None:
        goals = this.needed | set(this.wanted or ()) | {k[0] if type(k) is tuple else k for k in this.capture or ()}
        reached &= goals
    return reached


def queue_callback(callback: Any) -> None:
    """Run `callback()` when the pass that is now running has ended."""
    this = running.this
    if this is None:
        raise errors.EngineError("Final callbacks can only be installed during backward pass.")
    if this.callbacks is None:
        this.callbacks = []
    this.callbacks.append(callback)


def accumulates_everything() -> bool:
    """Is the running pass a plain backward(), or is there none?"""
    this = running.this
    return this is None or (this.capture is None and this.wanted is None)


# What lies ahead of a pass -------------------------------------------------------------------------


def find_needed(roots: list[Target], goals: set[Any]) -> set[Any] | None:
    """The nodes from which a goal (a node or a leaf) can be reached. None: all of them, and every path ends in a goal."""
    order: list[Node] = []
    seen: set[Any] = set()
    whole = True
    stack = [target for target, _ in roots if isinstance(target, Node)]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        ends = True
        for target in node.edges:
            if target is None:
                continue
            ends = False
            if target.seq is None:
                whole = whole and target in goals
            elif target not in seen:
                stack.append(target)
        whole = whole and not ends
    if whole:
        return None
    order.sort(key=_age, reverse=True)
    needed: set[Any] = set()
    for node in order:
        for target in node.edges:
            if target in goals or target in needed:
                needed.add(node)
                break
    return needed


_age = operator.attrgetter("seq")


def count_leaf_uses(roots: list[Target], this: Pass) -> None:
    """How often each leaf will be delivered to."""
    uses: dict[Any, int] = {}
    seen: set[Any] = set()
    stack = [target for target, _ in roots]
    for target, _ in roots:
        if isinstance(target, Tensor):
            uses[target] = uses.get(target, 0) + 1
    while stack:
        node = stack.pop()
        if isinstance(node, Tensor) or node in seen:
            continue
        seen.add(node)
        if this.needed is not None and node not in this.needed:
            continue
        for target in node.edges:
            if isinstance(target, Tensor):
                uses[target] = uses.get(target, 0) + 1
            elif target is not None:
                stack.append(target)
    this.uses = uses

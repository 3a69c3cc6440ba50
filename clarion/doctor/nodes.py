"""Nodes of PyTorch's graph, as the diagnoses see them.

NOTE [Views]: a `grad_fn` cannot be referenced weakly, and the Python object is made anew whenever somebody asks. But each C++ node
has a dictionary, `metadata`, that lives and dies with it: a `View` is kept there, which can be referenced weakly in its
stead. It must not hold its `grad_fn` (a cycle through C++ is never freed), except while an event is told: `release()` lets go.
Views hold the views of their inputs, as nodes hold nodes; leaves are referenced weakly.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import torch

from .lines import Place
from .vocabulary import NODES, OPERATIONS, Operation

_KEY = "clarion"
_TWIN = "clarion's twin"
_top_hooks: Any = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", None)


class Hooks:
    """NOTE [Packed]: where saved-tensor hooks are at work (activation checkpointing), reading what a node has saved runs them:
    a region would be computed again. Such values are left alone; `seen` says that there have been any."""

    seen = False
    depth = 0  # contexts with such hooks that are open, as far as we have seen them entered

    def active(self) -> bool:
        """Are values that are saved now handed to hooks? (PyTorch 2.4 does not say.)"""
        return self.depth > 0 if _top_hooks is None else _top_hooks(True) is not None


hooks = Hooks()


class _Held(threading.local):
    """What is known of a thread: views that hold their `grad_fn` at the moment, the roots of the event that is told, …"""

    def __init__(self) -> None:
        self.views: list[View] = []
        self.aside = 0  # above 0: what runs is ours, or PyTorch's own business
        self.elsewhere = False  # it is aside because another thread is diagnosed
        self.patience = 25  # looks at a thread that has just begun this one (home.py)
        self.listens = False  # does the ear lie on its stack? (listening.py)
        self.taking = 0  # calls of state_dict() inside each other
        self.handling = 0  # calls of the mode's handler
        self.lifted = 0  # calls that it lets through: it is off the stack until they return
        self.roots: Any = ()
        self.backward: Place | None = None  # the line of backward()
        self.ended = 0.5  # where the last pass that freed its graph ended (`engine.mark`)
        self.running: list[Any] = []  # the roots of the passes that run
        self.node: View | None = None  # whose gradient is being looked at
        self.operand: Any = None  # what an operation on one tensor was given


held = _Held()


class View:
    """A node. `seq` falls: younger nodes have smaller numbers."""

    __slots__ = (
        "__weakref__",
        "_edges",
        "_fn",
        "_linked",
        "_nrs",
        "_place",
        "folded",
        "hooked",
        "n_out",
        "op",
        "replaced",
        "seq",
        "title",
        "twin",
        "whole",
    )

    def __init__(self, fn: Any) -> None:
        self._fn: Any = None
        self._linked = False  # have its inputs been looked up since the event began?
        self._place: Any = None
        self._edges: tuple[Any, ...] | None = None
        self._nrs: tuple[int, ...] | None = None
        self.title: str = fn.name()
        if self.title.startswith("torch::autograd::"):
            self.title = self.title[17:]
        self.op: Operation | None = NODES.get(self.title)
        self.seq: float = -fn._sequence_nr()
        self.hooked = hooks.seen  # may reading a saved value run code of the user's? NOTE [Packed]
        self.folded = False  # a linear layer: the product with the transpose of a leaf, seen as one operation
        self.n_out = len(getattr(fn, "_input_metadata", ())) or 1
        self.replaced = False  # does another stand for it? Then whoever walks the graph does not meet it
        self.twin = False  # does it stand for a part of what was compiled? NOTE [Twins]
        self.whole: Any = None  # while an event is told: the `grad_fn` of what was compiled, for which it stands

    @property
    def fn(self) -> Any:
        """The `grad_fn`, while an event is told that led here; None otherwise."""
        return self._fn

    @property
    def place(self) -> Place | None:
        """The user's line that made it, where that is known."""
        if self._place is None:
            transfer(self)
        found: Place | None = self._place
        return found

    @place.setter
    def place(self, place: Place | None) -> None:
        self._place = place

    @property
    def code(self) -> Any:
        """The code object of its line."""
        place = self.place
        return None if place is None else place[0]

    @property
    def edges(self) -> list[Any]:
        """Per input: a view, a leaf, or None."""
        if self._fn is not None and not self._linked:
            self._link()
        if self._edges is None:
            return []
        return [edge() if type(edge) is weakref.ref else edge for edge in self._edges]

    @property
    def nrs(self) -> tuple[int, ...] | None:
        """Which output of its node each input was."""
        if self._fn is not None and not self._linked:
            self._link()
        return self._nrs

    def _link(self) -> None:
        """Find the inputs; while an event is told, they hold their `grad_fn`, too."""
        self._linked = True
        edges: list[Any] = []
        numbers = []
        for fn, number in self._fn.next_functions:
            if fn is None:
                edges.append(None)
            elif hasattr(fn, "variable"):
                leaf = fn.variable
                edges.append(None if leaf is None else weakref.ref(leaf))
            else:
                view, number = seen_as(fn, number)
                edges.append(view)
            numbers.append(number)
        self._edges, self._nrs = tuple(edges), tuple(numbers)
        if self.title in ("AddmmBackward0", "MmBackward0"):
            self._fold(edges, numbers)

    def _fold(self, edges: list[Any], numbers: list[int]) -> None:
        """`F.linear(x, weight, bias)`: from (bias, x, weight.t()) or (x, weight.t()) to (x, weight, bias)."""
        turned = edges[-1]
        if type(turned) is View and turned.title == "TBackward0":
            turned.edges  # noqa: B018  (links it)
            weight = turned._edges[0] if turned._edges else None
            if type(weight) is weakref.ref:
                first, last = (edges[-2], numbers[-2]), [(e, n) for e, n in zip(edges[:-2], numbers, strict=False)]
                ways = [first, (weight, 0), *last]
                self._edges, self._nrs = tuple(e for e, _ in ways), tuple(n for _, n in ways)
                self.op, self.folded = OPERATIONS["linear"], True


def view_of(fn: Any) -> View:
    """The view of a `grad_fn`."""
    kept = fn.metadata
    view: View | None = kept.get(_KEY)
    if view is None:
        view = kept[_KEY] = View(fn)
        view.replaced = _TWIN in kept
    if view._fn is None:
        view._fn = fn
        held.views.append(view)
    return view


def stand_for(fn: Any, number: int, t: Any) -> None:
    """Whoever asks where this output of a node came from is told where `t` came from: NOTE [Twins] in twins.py."""
    global _twins
    _twins = True
    kept = fn.metadata
    kept.setdefault(_TWIN, {})[number] = t.grad_fn, t.output_nr
    if _KEY in kept:
        kept[_KEY].replaced = True


def has_twin(t: Any) -> bool:
    """Is it known where this result of what was compiled came from?"""
    return t.output_nr in t.grad_fn.metadata.get(_TWIN, ())


def has_twins(fn: Any) -> bool:
    """Is it known where any of its outputs came from?"""
    return _TWIN in fn.metadata


def look_again() -> None:
    """Something stands for a node now: inputs that were looked up before may be others."""
    for view in held.views:
        view._linked = False


def compiled_behind(roots: Any, key: str) -> list[Any]:
    """The `grad_fn`s behind some tensors whose `metadata` has this key."""
    return [fn for fn in _functions_behind(roots) if key in fn.metadata]


def leaves_behind(roots: Any) -> set[int] | None:
    """The leaves (by id) that a pass reaches; None where nothing was compiled, so that no others can get a gradient."""
    if not _twins:
        return None
    return {id(edge) for view in in_order(roots) for edge in view.edges if isinstance(edge, torch.Tensor)}


_twins = False  # has anything a twin?


def seen_as(fn: Any, number: int) -> tuple[View, int]:
    """The view of a node, or of the one that stands in for this output of it."""
    twin = fn.metadata.get(_TWIN) if _twins else None
    if twin is None or number not in twin:
        return view_of(fn), number
    new, number = twin[number]
    view = view_of(new)
    view.whole = fn
    return view, number


def release() -> None:
    """The event is over: NOTE [Views]."""
    views = held.views
    if views:
        held.views = []
        for view in views:
            view._fn = view.whole = None
            view._linked = False


def is_known(fn: Any) -> bool:
    """Has a `grad_fn` of the program's a view, or something that stands for it?"""
    kept = fn.metadata
    view = kept.get(_KEY)
    return not view.twin if view is not None else _TWIN in kept


def is_of_twin(fn: Any) -> bool:
    """Did a twin make it? Its results are kept by what was computed from them alone: the program has those that were compiled."""
    view = fn.metadata.get(_KEY)
    return view is not None and bool(view.twin)


def held_by(tensors: list[Any]) -> set[View]:
    """The nodes that these tensors hold."""
    return set(in_order(tensors))


def node(t: Any) -> View | None:
    """The view of the node that made a tensor; None of a leaf."""
    try:
        fn = t.grad_fn
    except RuntimeError:  # a view that was written to under no_grad
        return None
    if fn is None or hasattr(fn, "variable"):
        return None
    return view_of(fn) if not _twins else seen_as(fn, t.output_nr)[0]


def output_number(t: Any) -> int:
    """Which output of its node a tensor is."""
    fn = t.grad_fn if _twins else None
    return int(t.output_nr) if fn is None or hasattr(fn, "variable") else seen_as(fn, t.output_nr)[1]


# Lines of steps that were not listened to ----------------------------------------------------------
# NOTE [Lines]: while the session listens closely, every node gets the user's line. Later ones get theirs from there: the
# same `backward()` line and the same operations in the same order have the same lines.

_LIMIT = 20_000  # nodes of a graph whose lines are remembered
_ALIKE = 0.75  # of the operations must be the same
_lines: dict[tuple[Place, str], tuple[tuple[str, ...], tuple[Place | None, ...]]] = {}


def remember(roots: Any, backward: Place | None) -> None:
    """The graph of a backward pass that was listened to: keep its lines."""
    views = in_order(roots, whole=True)
    if backward is not None and views and len(views) < _LIMIT:
        titles = tuple(view.title for view in views)
        _lines[backward, titles[0]] = titles, tuple(view._place for view in views)


def transfer(view: View) -> None:
    """Give the nodes of the pass that is told their lines, if the same was listened to before."""
    backward, roots = held.backward, held.roots
    if backward is None or not roots:
        return
    first = node(roots[0]) if isinstance(roots[0], torch.Tensor) else None
    known = _lines.get((backward, first.title)) if first is not None else None
    if known is None:
        return
    if view is first:  # mostly nothing else is asked for
        view._place = known[1][0]
        return
    views = in_order(roots, whole=True)
    for each, place in zip(views, aligned([each.title for each in views], *known), strict=True):
        if each._place is None:
            each._place = place


def aligned(titles: list[str], known: tuple[str, ...], places: tuple[Place | None, ...]) -> list[Place | None]:
    """The lines of operations, the youngest first, from those of a graph that was listened to; None where they are not known.

    The same operations have the same lines. Behind them may come what is left of the same graph of earlier steps (a state that is
    carried over); and a few may be new in the middle (a branch that was taken for the first time): they have none.
    """
    count = len(known)
    if tuple(titles[:count]) == known:
        found = list(places)
        while (size := _ending(titles[len(found) :], known)) > 0:
            found += places[count - size :]
        return found + [None] * (len(titles) - len(found))
    least = min(len(titles), count)
    front = next((i for i in range(least) if titles[i] != known[i]), least)
    back = next((i for i in range(least - front) if titles[-1 - i] != known[-1 - i]), least - front)
    if front + back < _ALIKE * max(len(titles), count):
        return [None] * len(titles)
    return [*places[:front], *[None] * (len(titles) - front - back), *places[count - back :]]


def _ending(titles: list[str], known: tuple[str, ...]) -> int:
    """The most operations that these begin with and the others end with."""
    return next((n for n in range(min(len(titles), len(known)), 0, -1) if tuple(titles[:n]) == known[-n:]), 0)


def in_order(roots: Any, whole: bool = False) -> list[View]:
    """The nodes behind some tensors, the youngest first; `whole`: what was compiled is one."""
    if whole and _twins:
        return _whole_in_order(roots)
    stack = [found for root in roots if isinstance(root, torch.Tensor) and (found := node(root)) is not None]
    seen = set(stack)
    while stack and len(seen) < _LIMIT:
        for edge in stack.pop().edges:
            if type(edge) is View and edge not in seen:
                seen.add(edge)
                stack.append(edge)
    return sorted(seen, key=lambda each: each.seq)


def _whole_in_order(roots: Any) -> list[View]:
    return sorted((view_of(fn) for fn in _functions_behind(roots)), key=lambda each: each.seq)


def _functions_behind(roots: Any) -> list[Any]:
    stack = [fn for root in roots if isinstance(root, torch.Tensor) and (fn := root.grad_fn) is not None]
    seen = set(stack)
    while stack and len(seen) < _LIMIT:
        for fn, _ in stack.pop().next_functions:
            if fn is not None and fn not in seen and not hasattr(fn, "variable"):
                seen.add(fn)
                stack.append(fn)
    return list(seen)


def forget() -> None:
    """A new session begins."""
    global _twins
    _twins = False
    _lines.clear()
    hooks.seen, hooks.depth = False, 0

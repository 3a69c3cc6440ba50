"""Where values leave the graph, which parameters leave with them, and whether they come back into a loss.

Followed while the session listens closely. A value that left (by `detach()`, `argmax`, an operation under no_grad, …) is
marked with the line where it did, and so is whatever is computed from it, inside the graph or outside. What becomes a Python
number or a NumPy array is lost from sight there: a tensor that is made of data later in the same step *may* come from it, and
is marked with `departure.maybe`.

Nothing here keeps a tensor alive: marks lie beside the tensors and go with them.
"""

from __future__ import annotations

import math
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..graph.reach import reachable
from ..graph.traits import having
from ..source.origins import leads_to
from ..source.places import Place, file_line, here

if TYPE_CHECKING:
    from .ledger import Ledger
    from .switches import Switch

NUMBERS = ("item", "tolist", "numpy")  # ways out that lead out of sight
_VERBS = {  # of ways out, in words; all others are operations
    "no_grad": "is computed without recording (no_grad)",
    **dict.fromkeys(("item", "tolist"), "becomes a Python number"),
    "numpy": "becomes a NumPy array",
    "tensor": "is copied by torch.tensor()",
    "Parameter": "is made a new Parameter",
    **{name: f"is cut off by `.{name}()`" for name in ("detach", "detach_")},
    "data": "is cut off by `.data`",
    "grad": "is computed by `autograd.grad` without `create_graph=True`",
    "cast": "is cast to integers (they have no gradient)",
    **dict.fromkeys(("gt", "ge", "lt", "le", "eq", "ne"), "goes through a comparison (it has no gradient)"),
}
# Operations that hand on what they are given term by term: a constant among the terms of a loss has no gradient.
_SUMS = having("adds joins")
_LINEAR = having("adds joins total reshapes")
_SCALED = having("arithmetic")  # linear, if one side is constant
_WALKS = 4  # departures of a line whose parameters are looked up in one step
_MEASURED = 1_000_000  # elements of a parameter whose norms are taken when it leaves
_FEW = 64  # elements of a tensor that are compared with the numbers that have left
_TERMS = 200  # nodes of a sum that are looked at


class Departure:
    """A line where values leave the graph.

    how      by which function ("no_grad": an operation that was not recorded)
    leaves   the leaves they had been computed from, by id
    arrived  in how many backward passes a root was computed from such a value; `perhaps`: or may have been
    series   values with one element that were made of it, by line, or norms of an array: step -> their sum
    ends     the nodes of the terms of the last value
    behind   departures that what left here comes from, by another way: to mend those alone would not help
    carried  the last one had been computed in an earlier step: a state that is handed on without its history
    foreign  a library did it, for the user's line; or a distribution, that was asked for a sample
    meant    a library keeps it out of the graph, without a decision or a number being made of it: it knows what it trains
    decides  what leaves are integers or truth values: which way to go, whom to ask
    latest   the number of the last backward pass that such a value arrived in
    switch   of "no_grad": what had switched recording off when a value left last
    """

    __slots__ = (
        "arrived",
        "behind",
        "carried",
        "decides",
        "ends",
        "foreign",
        "how",
        "latest",
        "leaves",
        "maybe",
        "meant",
        "number",
        "numbered",
        "perhaps",
        "place",
        "series",
        "step",
        "switch",
        "walks",
    )

    def __init__(self, number: int, place: Place | None, how: str) -> None:
        self.number, self.place, self.how = number, place, how
        self.leaves: dict[int, weakref.ref[Any]] = {}
        self.maybe = Maybe(self)
        self.arrived = self.perhaps = 0
        self.step = -1
        self.numbered = -1  # the step in which what left here became a number or an array
        self.walks = 0
        self.series: dict[Place | str | None, dict[int, float]] = {}
        self.ends: list[weakref.ref[Any]] = []
        self.behind: set[Departure] = set()
        self.foreign = self.meant = self.decides = self.carried = False
        self.latest = 0
        self.switch: Switch | None = None

    def carries(self, leaves: list[Any]) -> list[Any]:
        """Those of the leaves that left here."""
        return [leaf for leaf in leaves if id(leaf) in self.leaves and self.leaves[id(leaf)]() is leaf]

    def add(self, step: int, place: Place | str | None, value: float) -> None:
        """Note a value with one element that was made of what left here."""
        if place in self.series or len(self.series) < 16:
            series = self.series.setdefault(place, {})
            series[step] = series.get(step, 0.0) + value
            if len(series) > 32:
                del series[next(iter(series))]

    def stands_for(self, held: set[int]) -> bool:
        """Is a term of the value that left a term of the loss, too (by id)? Then it is there to be replaced or subtracted."""
        return any(id(node) in held for node in (reference() for reference in self.ends) if node is not None)

    def carries_trained(self) -> bool:
        """Did anything leave here that an optimizer owns?"""
        found = [reference() for reference in self.leaves.values()]
        return any(
            leaf is not None and engine.story(leaf) is not None and engine.story(leaf).owner is not None
            for leaf in found
        )

    def is_told(self) -> bool:
        """Was recording off by a mode that was never left, of which the user was told?"""
        return self.switch is not None and self.switch.told

    @property
    def verb(self) -> str:
        """How the value left, in words."""
        return _VERBS.get(self.how) or f"goes through `{self.how}` (it has no gradient)"


class Maybe:
    """A mark: the value may come from this departure."""

    __slots__ = ("departure",)

    def __init__(self, departure: Departure) -> None:
        self.departure = departure


class Term:
    """A constant among the terms of a loss: its value, where it was added, and the departures it comes from."""

    __slots__ = ("marks", "place", "value")

    def __init__(self, value: float, place: Place | None, marks: frozenset[Any]) -> None:
        self.value, self.place, self.marks = value, place, marks


NONE: frozenset[Any] = frozenset()


def is_copy(mark: Any) -> bool:
    """Does a mark say that a value was made anew of what left? That is seldom meant; `detach()` mostly is."""
    return type(mark) is Departure and (mark.how == "tensor" or mark.how in NUMBERS)


class Departures:
    """All departures of a session, by line; where numbers are made of values, by the line that called for it, too."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lines: dict[tuple[Any, ...], Departure] = {}
        self._marks: dict[int, tuple[weakref.ref[Any], frozenset[Any]]] = {}
        self._terms: dict[int, tuple[weakref.ref[Any], list[Term]]] = {}
        # Values of this step that became numbers, and where (several of one line may be equal, as first weights are); and those
        # without a fraction: the same number may well be another one.
        self._numbers: dict[float, frozenset[Departure]] = {}
        self._whole: dict[float, frozenset[Departure]] = {}
        self._step = -1
        self._vanished = -1  # the last step in which a value that had left became a number or an array

    # What rules ask ------------------------------------------------------------------------------

    def __iter__(self) -> Any:
        return iter(list(self._lines.values()))

    def marks(self, tensor: Any) -> frozenset[Any]:
        """The departures that a value comes from, or may come from."""
        known = self._marks.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else NONE

    def of(self, tensor: Any) -> list[Departure]:
        """The departures that a value comes from; if none is known, those it may come from. The last ones first."""
        marks = self.marks(tensor)
        found = {mark for mark in marks if type(mark) is Departure} or {mark.departure for mark in marks}
        return sorted(found, key=lambda departure: (-departure.step, -departure.number))

    def lately(self) -> list[Departure]:
        """The departures of this step, the last ones first."""
        step = self._ledger.step
        return sorted((d for d in self._lines.values() if d.step == step), key=lambda d: -d.number)

    def terms(self, root: Any) -> tuple[list[Term], set[int]]:
        """The constants among the terms of a loss, and the nodes of all its terms (by id)."""
        constants: list[Term] = []
        nodes = _terms_of(engine.node(root))
        for node in nodes:
            known = self._terms.get(id(node))
            if known is not None and known[0]() is node:
                constants += known[1]
        return constants, {id(node) for node in nodes}

    def is_used_beside(self, value: float, held: set[int]) -> bool:
        """Is the same constant added somewhere else, too, inside of a term (the shift of a logsumexp)?"""
        for key, (reference, terms) in list(self._terms.items()):
            if key not in held and reference() is not None and any(abs(term.value) == abs(value) for term in terms):
                return True
        return False

    # Events --------------------------------------------------------------------------------------

    def near_applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        """An operation ran."""
        if not outs or op.name.endswith("_like"):  # only its shape goes on
            return
        out = outs[0]
        marks, leaving = NONE, False
        for t in inputs:
            if engine.is_tensor(t):
                leaving = leaving or (engine.requires_grad(t) and t is not out)
                known = self._marks.get(id(t))
                if known is not None and known[0]() is t:
                    marks = marks | known[1] if marks else known[1]
                elif self._numbers and t is not out and not engine.requires_grad(t) and engine.size(t) <= _FEW:
                    marks = marks | self._recognised(t)
            elif isinstance(t, (float, np.floating)):
                t = float(t)
                if t in self._numbers:
                    marks = marks | self._numbers[t]
                    for left in self._numbers[t]:
                        left.numbered = self._ledger.step
                elif t in self._whole:
                    marks = marks | {departure.maybe for departure in self._whole[t]}
                elif not t.is_integer() and self._has_numbers():  # math.exp(parameter), say
                    marks = marks | self._of_numbers(here())
        if self._numbers:
            for value in params:
                if type(value) is float and value in self._numbers:  # `leaky_relu(x, slope.item())`
                    marks = marks | self._numbers[value]
        if leaving:
            recorded = engine.recording()
            if not recorded or not engine.requires_grad(out):
                sources = [t for t in inputs if engine.is_tensor(t) and engine.requires_grad(t) and t is not out]
                marks = marks | {self._depart("no_grad" if not recorded else op.name, sources, out)}
            elif len(outs) > 1:
                for other in outs[1:]:
                    if engine.kind(other) in "iu" and not engine.requires_grad(other):  # indices
                        self._mark(other, marks | {self._depart(op.name, [inputs[0]], other)})
        if op.name == "cast" and engine.kind(out) in "iub":
            self._note_cast()
        if op.name in _SUMS and engine.node(out) is not None:
            self._note_constants(engine.node(out), inputs)
        if marks:
            if engine.node(out) is None and engine.size(out) == 1 and not leaving:
                self._note_number(out, marks)
            for each in outs:
                if id(each) not in self._marks or each is out:
                    self._mark(each, marks)

    def _has_numbers(self) -> bool:
        """Has anything become a number in this step?"""
        return bool(self._numbers or self._whole) or self._vanished == self._ledger.step

    def _recognised(self, tensor: Any) -> frozenset[Any]:
        """The departures of numbers that lie in a small tensor, however it was made of them (`torch.Tensor([...])`)."""
        if engine.kind(tensor) != "f":
            return NONE
        return NONE.union(*(self._numbers[v] for v in engine.array(tensor).reshape(-1).tolist() if v in self._numbers))

    def _maybe_numbers(self) -> frozenset[Any]:
        """Marks for a number of unknown origin: it may be made of those that left in this step."""
        step = self._ledger.step
        return frozenset(
            d.maybe for d in self._lines.values() if d.step == step and (d.how in NUMBERS or d.numbered == step)
        )

    def _of_numbers(self, place: Place | None) -> frozenset[Any]:
        """The same; those that what comes in at a place is made of, by the program's text, are certain."""
        left = (mark.departure for mark in self._maybe_numbers())
        return frozenset(d if d.how in NUMBERS and leads_to(d.place, place) else d.maybe for d in left)

    def near_left(self, tensor: Any, how: str) -> None:
        """A value became a number or an array, or lost its history where it stands."""
        if how in NUMBERS:
            marks = self.marks(tensor)
            if not engine.requires_grad(tensor) and not marks:
                return
            departure = self._depart(how, [tensor], tensor)
            for mark in marks:
                if type(mark) is Departure:
                    mark.numbered = self._vanished = self._ledger.step
                    departure.leaves.update(mark.leaves)  # what left before leaves here as well
            if engine.size(tensor) <= _FEW and engine.kind(tensor) in "fc":
                for value in engine.array(tensor).real.reshape(-1).tolist():
                    self._note_departed(float(value), departure)

    def _note_departed(self, value: float, departure: Departure) -> None:
        """A value is a Python number now. One without a fraction is known again only perhaps, also as what is made of it often."""
        if not value.is_integer():
            _join(self._numbers, value, departure)
            _join(self._numbers, -value, departure)
            return
        _join(self._whole, value, departure)
        for made in (-value, value * value, math.exp(min(value, 700.0)), 1.0 / value if value else 0.0):
            if made.is_integer() and (made not in self._whole or _share_a_line(self._whole[made], departure)):
                _join(self._whole, made, departure)

    def near_aliased(self, tensor: Any, other: Any) -> None:
        """`detach()` gave a tensor outside the graph."""
        self._copied(tensor, other, "detach")

    def near_entered(self, tensor: Any, data: Any) -> None:
        """A tensor was made of data: numbers, lists, arrays, another tensor's."""
        if engine.is_tensor(data):
            shared = engine.memory(data) == engine.memory(tensor)
            self._copied(data, tensor, "Parameter" if engine.is_parameter(tensor) else "data" if shared else "tensor")
            return
        if engine.kind(tensor) not in "fc":
            return
        place = here()
        values = (data,) if type(data) is float else data[:_FEW] if isinstance(data, (list, tuple)) else ()
        marks = NONE.union(*(self._numbers[v] for v in values if type(v) is float and v in self._numbers))
        marks = marks or self._of_numbers(place)
        if marks:
            self._mark(tensor, marks)

    def near_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """A root: what it comes from has arrived."""
        if accumulates:
            for root in tensors:
                for mark in self.marks(root) if engine.node_of(root) is not None else ():
                    if type(mark) is Departure:
                        mark.arrived += 1
                        mark.latest = self._ledger.passes
                    else:
                        mark.departure.perhaps += 1

    # Keeping books -------------------------------------------------------------------------------

    def _copied(self, tensor: Any, other: Any, how: str) -> None:
        marks = self.marks(tensor)
        if engine.requires_grad(tensor):
            departure = self._depart(how, [tensor], tensor)
            departure.behind.update(mark for mark in marks if type(mark) is Departure and mark is not departure)
            marks = marks | {departure}
            if engine.is_parameter(tensor) and 1 < engine.size(tensor) <= _MEASURED:
                self._note_penalties(departure, engine.array(tensor))
        if marks:
            computed = engine.is_parameter(other) and engine.node_of(tensor) is not None
            self._mark(other, marks, computed and bool(self._ledger.optimizers))

    def _depart(self, how: str, sources: list[Any], value: Any) -> Departure:
        """Values leave at the user's line."""
        place = here()
        key = _key(place, how) if how not in NUMBERS else (*_key(place, how), *_caller(place))
        departure = self._lines.get(key)
        if departure is None:
            departure = self._lines[key] = Departure(len(self._lines), place, how)
            library = engine.by_library()
            departure.foreign, departure.meant = library or _draws(), library and how in ("no_grad", "detach", "data")
            departure.decides = engine.kind(value) in "iub"
        step = self._ledger.step
        if step != self._step:
            self._step = step
            self._numbers.clear()
            self._whole.clear()
        if departure.step != step:
            departure.step, departure.walks = step, 0
        if how == "no_grad":
            departure.switch = self._ledger.switches.current
        marks, nodes = self._ledger.round_marks, [engine.node(source) for source in sources]
        departure.carried = bool(marks) and all(node is not None and node.seq > marks[-1] for node in nodes)
        if departure.walks < _WALKS:
            departure.walks += 1
            departure.leaves.update((id(leaf), weakref.ref(leaf)) for leaf in leaves_of(sources))
            departure.ends = [weakref.ref(node) for source in sources for node in _terms_of(engine.node(source))]
        if engine.size(value) == 1:
            departure.add(step, place, float(engine.number(value).real))
        return departure

    def _note_penalties(self, departure: Departure, array: Any) -> None:
        """What NumPy may make of weights, out of sight, to punish their size."""
        squares = float((array * array).sum())
        for name, value in (("squares", squares), ("norm", squares**0.5), ("magnitudes", float(np.abs(array).sum()))):
            departure.add(self._ledger.step, name, value)

    def _note_cast(self) -> None:
        """A cast to integers detaches first: to the user, it is the cast that cuts."""
        departure = self._lines.get(_key(here(), "detach"))
        if departure is not None:
            departure.how = "cast"

    def _mark(self, tensor: Any, marks: frozenset[Any], computed: bool = False) -> None:
        """A Parameter begins anew, unless it was computed from others while these were trained."""
        if (engine.is_parameter(tensor) and not computed) or len(marks) > 64:
            return
        key = id(tensor)
        known = self._marks

        def forget(_: Any) -> None:
            known.pop(key, None)

        known[key] = (weakref.ref(tensor, forget), marks)

    def _note_number(self, value: Any, marks: frozenset[Any]) -> None:
        """A value outside of the graph may become a number unseen."""
        number = float(engine.number(value).real)
        place = here()
        for mark in marks:
            if type(mark) is Departure:
                mark.add(self._ledger.step, place, number)
                if not number.is_integer():
                    _join(self._numbers, number, mark)

    def _note_constants(self, node: Any, inputs: Any) -> None:
        found: list[Term] = []
        for t in inputs:
            if engine.is_tensor(t):
                if engine.requires_grad(t) or engine.kind(t) != "f":
                    continue
                if engine.size(t) == 1:
                    found.append(Term(float(engine.number(t)), node.place, self.marks(t)))
                elif copied := frozenset(mark for mark in self.marks(t) if is_copy(mark)):  # one for each sample
                    found.append(Term(float(engine.array(t).mean()), node.place, copied))
            elif isinstance(t, (float, np.floating)):
                t = float(t)
                found.append(Term(t, node.place, self._numbers.get(t, NONE)))
        if found:
            key, known = id(node), self._terms
            known[key] = (weakref.ref(node, lambda _: known.pop(key, None)), found)


def _join(table: dict[float, frozenset[Departure]], value: float, departure: Departure) -> None:
    """A number left here: with what left on the same line before, or instead of what left elsewhere."""
    known = table.get(value, NONE)
    table[value] = known | {departure} if _share_a_line(known, departure) else frozenset([departure])


def _share_a_line(known: frozenset[Departure], departure: Departure) -> bool:
    return any(file_line(other.place) == file_line(departure.place) for other in known)


def _draws() -> bool:
    """Is a distribution drawing a sample? That it has no gradient is meant."""
    frame: Any = sys._getframe(2)
    while frame is not None and engine.is_library(frame.f_code.co_filename):
        if f"{os.sep}distributions{os.sep}" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _key(place: Place | None, how: str) -> tuple[int, int, str]:
    return (id(place[0]), place[1], how) if place is not None else (0, 0, how)


def _caller(place: Place | None) -> tuple[int, int]:
    """Who called the user's function that is running: what one helper logs at one line are values of different kinds."""
    frame: Any = sys._getframe(2)
    while frame is not None and place is not None and frame.f_code is not place[0]:
        frame = frame.f_back
    outer = frame.f_back if frame is not None else None
    return (id(outer.f_code), outer.f_lasti) if outer is not None else (0, 0)


def leaves_of(tensors: list[Any]) -> list[Any]:
    """The leaves that tensors were computed from (or are)."""
    found = {id(t): t for t in tensors if engine.node(t) is None}
    for node in reachable([t for t in tensors if engine.node(t) is not None]):
        for edge in node.edges:
            if engine.is_tensor(edge):
                found[id(edge)] = edge
    return list(found.values())


def _terms_of(node: Any) -> list[Any]:
    """The node of a sum and the nodes of its terms, through whatever hands them on one by one."""
    found: list[Any] = []
    stack = [node] if node is not None else []
    while stack and len(found) < _TERMS:
        node = stack.pop()
        found.append(node)
        op = engine.op(node)
        name = op.name if op is not None else ""
        edges = [edge for edge in node.edges if edge is not None]
        if name in _LINEAR or (name in _SCALED and len(edges) == 1):
            stack += [edge for edge in edges if engine.is_node(edge)]
    return found

"""path-cut"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .. import engine
from ..books.departures import NUMBERS, Departure, Term
from ..books.records import Backward, Clear, OptimizerStory, Update
from ..finding import ERROR
from ..graph.names import listed, names_of
from ..graph.strangers import Copies, Written
from ..rule import Diagnosis
from ..source.origins import is_called, leads_to
from ..source.places import Where, file_line, text

_EARLIEST = 3  # updates of an optimizer before anything is said of its parameters
_CONFIRMED = 12  # updates after which it is said (or at the end, if there are fewer): until then it may be a warm-up
_TERM_STEPS = 3  # updates with a term that is cut off
_SAME, _SMALL = 5, 64  # updates with the same gradient, of a parameter of so many elements at most
_RATIO_STEPS = 5  # points that a constant and a value must share their course in


class _Cut:
    """Parameters that are not reached, and where the values computed from them leave the graph."""

    def __init__(self, story: OptimizerStory, departure: Departure, names: list[str], updates: int = 0) -> None:
        self.story, self.departure, self.names = story, departure, names
        self.others: list[Where] = []
        self.updates = updates  # since they were reached last, if they ever were


class PathCut(Diagnosis):
    """The way from the loss back to some parameters is cut: a value left the graph and came back as a constant.

    `argmax`, comparisons, `.item()`, NumPy, `torch.tensor([...])`, `.detach()`, `.data`, `no_grad` and `autograd.grad` without
    `create_graph=True` give values without history. Computing on with them works; the gradient ends there, and whatever lies behind is never trained. The same
    holds for a term of the loss that was added as a number.

    Broken:

        penalty = sum(p.pow(2).sum() for p in model.parameters()).item()
        loss = criterion(model(x), y) + 0.01 * penalty
        loss.backward()

    Fixed:

        penalty = sum(p.pow(2).sum() for p in model.parameters())
        loss = criterion(model(x), y) + 0.01 * penalty
        loss.backward()

    Where a hard decision is wanted, let the gradient pass: `hard + soft - soft.detach()`.

    Silent are values that are only logged, stop-gradients beside a path that is open (targets, baselines, commitment
    losses), what one step hands on to the next, parameters that are frozen, and copies that are updated in another way
    (targets, moving averages).
    """

    name = "path-cut"
    why = "no gradient flows through a value without history: what it was computed from is not trained by it."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._copies = Copies()
        self._written = Written()
        self._discarded: set[Any] = set()  # optimizers (weakly) whose gradients were there, and were cleared
        self._missed: dict[int, list[Backward]] = {}  # by optimizer's story (its id): passes that gave it nothing
        self._before: dict[int, set[Departure]] = {}  # what arrived in the losses of those passes
        self._cuts: dict[int, tuple[OptimizerStory, list[_Cut]]] = {}  # by optimizer's story (its id)
        self._silent: dict[int, int] = {}  # by leaf (its id): steps in a row without a gradient, after many with one
        self._terms: list[Term] = []  # constants among the terms of the last loss
        self._held: set[int] = set()  # the nodes of its terms
        self._at = 0  # the step it was computed in
        self._seen: dict[Departure, int] = {}  # updates in which a value that left here was a term
        self._beside: dict[tuple[Departure, Any], int] = {}  # steps in which something left on the way to such a line
        self._series: dict[Any, dict[int, float]] = {}  # the line of an addition -> step -> the constant
        self._constant: dict[
            int, tuple[bytes, int]
        ] = {}  # by leaf (its id): a gradient, and the steps in a row that it was the same

    # Parameters that are not reached -------------------------------------------------------------

    def near_step_began(self, optimizer: Any) -> None:
        """Before the first update, copies can still be told by their values."""
        if getattr(optimizer, "_story", None) is not None and optimizer._story.steps == 0:
            self._copies.look(optimizer, self.ledger)

    def at_discard(self, clear: Clear) -> None:
        """They were reached, but nobody used it: another diagnosis' case."""
        stories = [engine.story(leaf) for leaf in clear.leaves]
        self._discarded.update(story.owner for story in stories if story is not None)

    def at_empty_step(self, update: Update) -> None:
        """A step without any gradient: where the way is cut is said before the step is blamed."""
        story = update.story
        assert story is not None
        if weakref.ref(update.optimizer) in self._discarded:
            return
        if self.ledger.last_backward is not None:
            missed = self._missed.setdefault(id(story), [])
            missed[:] = [*missed[-_CONFIRMED:], self.ledger.last_backward]
            if self.session.near:
                arrived = {d for d in self.ledger.departures if d.latest == self.ledger.passes}
                self._before[id(story)] = self._before.get(id(story), set()) | arrived
        if story.empty_run >= 2 and self.session.near:
            self._speak(self._find(update.optimizer, story))

    def near_stepped(self, optimizer: Any) -> None:
        """Look for parameters that no gradient has reached."""
        story: OptimizerStory = optimizer._story
        self._judge_terms(optimizer)
        self._judge_factors(optimizer)
        cuts = self._find(optimizer, story)
        self._cuts[id(story)] = (story, cuts)
        if cuts and story.steps < _CONFIRMED:
            self.session.listen("at_update", self, self._wait, True)
        elif story.steps >= _CONFIRMED:
            self._speak(cuts)
            self._speak(self._find_lost(optimizer, story))

    def _wait(self, update: Update) -> None:
        story = update.story
        if story is not None and story.steps == _CONFIRMED and id(story) in self._cuts:
            self._speak(self._find(update.optimizer, story))
            del self._cuts[id(story)]
        if not any(cuts for waiting, cuts in self._cuts.values() if waiting.steps < _CONFIRMED):
            self.session.listen("at_update", self, self._wait, False)

    def at_exit(self) -> None:
        """Programs with few updates."""
        for story, cuts in self._cuts.values():
            if story.steps >= _EARLIEST:
                self._speak(cuts)

    def _find(self, optimizer: Any, story: OptimizerStory) -> list[_Cut]:
        unreached = []
        discarded = weakref.ref(optimizer) in self._discarded
        self._discarded.discard(weakref.ref(optimizer))
        lost = (
            story.empty_run >= 2 and not discarded
        )  # a later phase that reaches nothing of what was trained until then
        for group in optimizer.param_groups:
            for leaf in group["params"]:
                if (
                    engine.requires_grad(leaf)
                    and engine.grad(leaf) is None
                    and engine.story(leaf) is not None
                    and (not engine.story(leaf).deposits or (lost and engine.story(leaf).deposits >= _CONFIRMED))
                ):
                    unreached.append(leaf)
        unreached = [leaf for leaf in unreached if not self._lives_otherwise(leaf)]
        if not unreached or (story.empty_run and not self._was_meant(story)):
            return []
        found: list[_Cut] = []
        ways = [
            d for d in self.ledger.departures if (d.arrived >= 2 or d.perhaps >= 2) and not (d.meant or d.is_told())
        ]
        # No gradient at all: what cuts the way from the loss before its steps, and not from that of another optimizer's?
        own = self._before.get(id(story), set()) if story.empty_run else set()
        ways.sort(
            key=lambda d: (
                d.arrived < 2,
                d.foreign,
                d not in own,
                -len(d.carries(unreached)),
                d not in self._seen,
                d.numbered >= 0 or d.how in NUMBERS,  # a number of it scales what another line cuts off
                d.number,
            )
        )
        ways = [d for d in ways if not _is_behind(d, ways)] + [d for d in ways if _is_behind(d, ways)]
        for departure in ways:
            leaves = departure.carries(unreached)
            if not leaves:
                continue
            unreached = [leaf for leaf in unreached if all(leaf is not other for other in leaves)]
            names = names_of(self.ledger, leaves)
            same = next((cut for cut in found if _is_one(departure, cut.departure)), None)
            if same is not None:
                same.names += names
                same.others.append(departure.place)
            else:
                found.append(_Cut(story, departure, names, story.empty_run))
        return found

    def _find_lost(self, optimizer: Any, story: OptimizerStory) -> list[_Cut]:
        """Parameters that were trained for long and are reached no more, while their value goes on as a number. (`detach()` may be meant: a
        part that is left as it is from some step on.)"""
        silent: list[Any] = []
        for leaf in (leaf for group in optimizer.param_groups for leaf in group["params"]):
            about = engine.story(leaf)
            if about is None or engine.grad(leaf) is not None or not engine.requires_grad(leaf):
                self._silent.pop(id(leaf), None)
            elif about.deposits >= _CONFIRMED:
                times = self._silent[id(leaf)] = self._silent.get(id(leaf), 0) + 1
                silent += [leaf] if times >= _TERM_STEPS else []
        if not silent or story.empty_run:
            return []
        ways = [d for d in self.ledger.departures if d.how in (*NUMBERS, "tensor") and d.arrived >= _TERM_STEPS]
        found = [(d, d.carries(silent)) for d in ways if d.latest == self.ledger.passes]
        return [_Cut(story, d, names_of(self.ledger, leaves), _TERM_STEPS) for d, leaves in found if leaves][:1]

    def _was_meant(self, story: OptimizerStory) -> bool:
        """An optimizer without any gradient: was the pass before its step meant for it, and for no other optimizer?"""
        return sum(not backward.used for backward in self._missed.get(id(story), ())) >= 2

    def _lives_otherwise(self, leaf: Any) -> bool:
        """Is it a copy, or does somebody write to it: a target network, a moving average?"""
        return self._written.has(leaf) or self._copies.is_copy(leaf)

    def _speak(self, cuts: list[_Cut]) -> None:
        for cut in cuts:
            departure = cut.departure
            many = len(cut.names)
            self.report(
                departure.place,
                f"No gradient has reached {listed(cut.names)} in {cut.updates or cut.story.steps} updates: here the value that is computed "
                f"from {'them' if many > 1 else 'it'} {departure.verb} and goes on as a constant.",
                fix=_remedy(departure),
                also=[*cut.others, *([cut.story.stepped] if cut.story.empty_run else [])],
            )

    # Terms of the loss ---------------------------------------------------------------------------

    def near_backward_began(self, tensors: Any, gradients: Any, retained: Any, create: Any, accumulates: bool) -> None:
        """Constants among the terms of a loss."""
        root = tensors[0]
        if accumulates and engine.is_tensor(root) and engine.node(root) is not None:
            departures = self.ledger.departures
            terms, self._held = departures.terms(root)
            self._terms = [term for term in terms if not departures.is_used_beside(term.value, self._held)]
            self._at = self.ledger.step

    def _judge_terms(self, optimizer: Any) -> None:
        terms, self._terms = [term for term in self._terms if term.value != 0], []  # `0 * x` adds nothing
        if not terms:
            return
        leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
        for term in terms:
            sources = [mark for mark in term.marks if type(mark) is Departure]
            sources = [d for d in sources if d.carries(leaves) and not d.stands_for(self._held)]
            sources = [d for d in sources if not (d.foreign or d.carried)]
            if any(d.is_told() for d in sources):
                continue
            if sources:
                self._count(min(sources, key=lambda d: (_is_behind(d, sources), d.number)), term)
            elif not any(type(mark) is Departure for mark in term.marks):
                self._compare(term, leaves)

    def _count(self, departure: Departure, term: Term) -> None:
        self._seen[departure] = seen = self._seen.get(departure, 0) + 1
        if seen >= _TERM_STEPS:
            self._report_term(departure, term)

    def _compare(self, term: Term, leaves: list[Any]) -> None:
        """A number without a known origin: is it a multiple of a value that left, step by step?"""
        series = self._series.setdefault(term.place, {})
        series[self._at] = series.get(self._at, 0.0) + term.value
        if len(series) > 64:
            return
        for departure in self.ledger.departures:
            if departure.is_told() or departure.foreign or departure.carried:
                continue
            if departure.carries(leaves) and not departure.stands_for(self._held):
                if any(_is_multiple(series, values) for values in departure.series.values()) or (
                    self._is_weighted(departure, term, series)
                ):
                    self._report_term(departure, term)
                    return

    def _is_weighted(self, departure: Departure, term: Term, series: dict[int, float]) -> bool:
        """Does the program make the term of what left here, by a weight that may change from step to step?"""
        if departure.step != self._at or (departure.how not in NUMBERS and departure.numbered < 0):
            return False
        if not (leads_to(departure.place, term.place) or is_called(departure.place, term.place)):
            return False
        times = self._beside[departure, term.place] = self._beside.get((departure, term.place), 0) + 1
        return times >= _TERM_STEPS and len(set(series.values())) == len(series)

    def _report_term(self, departure: Departure, term: Term) -> None:
        self.report(
            departure.place,
            f"A term of the loss is a constant: here its value {departure.verb}, and {text(term.place)} adds it to the "
            f"loss (last {term.value:.4g}).",
            fix=_remedy(departure),
            also=[term.place] if file_line(term.place) != file_line(departure.place) else [],
        )

    # Factors of the loss -------------------------------------------------------------------------

    def _judge_factors(self, optimizer: Any) -> None:
        """A learned weight that becomes a number on one way to the loss, and on another is added as it is: its gradient is always the same."""
        leaves = [leaf for group in optimizer.param_groups for leaf in group["params"]]
        for departure in self.ledger.departures:
            if (
                departure.how not in NUMBERS
                or departure.arrived < _TERM_STEPS
                or departure.latest != self.ledger.passes
            ):
                continue
            found = [] if departure.foreign or departure.carried or departure.is_told() else departure.carries(leaves)
            if found and all(self._has_constant_gradient(leaf) for leaf in found):
                self.report(
                    departure.place,
                    f"The gradient of {listed(names_of(self.ledger, found))} has been the same in {_SAME} steps, whatever the loss: "
                    f"here the value that is computed from it {departure.verb}, and scales the loss as a constant.",
                    fix=_remedy(departure),
                )

    def _has_constant_gradient(self, leaf: Any) -> bool:
        gradient = engine.grad(leaf)
        if gradient is None or engine.size(gradient) > _SMALL:
            return False
        values = engine.array(gradient)
        now, (before, times) = values.tobytes(), self._constant.get(id(leaf), (b"", 0))
        times = times + 1 if now == before else 1
        self._constant[id(leaf)] = now, times
        return times >= _SAME and bool(values.any())

    # A loss that is cut off as a whole -----------------------------------------------------------

    def on_refused(self, error: Any, facts: dict[str, Any]) -> None:
        """backward() on a value without history."""
        root = facts.get("without_history")
        if root is None or self.ledger.unrecorded.blame(root) is not None:  # that is recording-off
            return
        departures = self.ledger.departures
        known = departures.marks(root)
        # Marks go with tensors: what comes from something that left without carrying its mark left as a number.
        for departure in (*departures.of(root), *(d for d in departures.lately() if d.how in NUMBERS)):
            if departure.how != "no_grad" and departure.leaves:
                perhaps = "; if the loss comes from it, its way is cut there"
                on = " and goes on as a constant" if departure in known else perhaps
                self.report(
                    departure.place,
                    f"The loss has no history: here a value {departure.verb}{on}.",
                    fix=_remedy(departure),
                    level=ERROR,
                    error=error,
                )
                return


def _is_one(a: Departure, b: Departure) -> bool:
    """Do values leave in the same block, line by line, or on the same line, one after another?"""
    return a.how == b.how and (a.how == "no_grad" or file_line(a.place) == file_line(b.place) is not None)


def _is_behind(departure: Departure, ways: list[Departure]) -> bool:
    """Is the gradient stopped once more on the way from here to the loss?"""
    return any(departure in other.behind for other in ways if other.arrived >= 2)


def _is_multiple(series: dict[int, float], values: dict[int, float]) -> bool:
    """Do two series that both move keep one ratio? (Where both are zero, as a penalty of first weights may be, there is none.)"""
    steps = [step for step in series if step in values and (series[step] or values[step])]
    if len(steps) < _RATIO_STEPS:
        return False
    a = np.array([series[step] for step in steps])
    b = np.array([values[step] for step in steps])
    if not (np.isfinite(a).all() and np.isfinite(b).all() and b.all()) or np.ptp(b) < 1e-4 * np.abs(b).max():
        return False
    ratio = a / b
    return bool(np.ptp(ratio) <= 1e-5 * np.abs(ratio).max() and ratio.any())


def _remedy(departure: Departure) -> str:
    how = departure.how
    if how == "no_grad":
        return "take this out of `no_grad`; if it is meant to stay as it is, freeze it: `module.requires_grad_(False)`."
    if how in ("item", "tolist"):
        return "keep the tensor in the computation (leave `.item()` away), and use `.item()` for the log only."
    if how == "tensor":
        return "`torch.stack([...])`, or the tensor itself, instead of `torch.tensor(...)`: these keep the history."
    if how == "Parameter":
        return "compute on with the value itself: a Parameter is a leaf, it does not know what it was made of."
    if how == "numpy":
        return "compute this with torch functions instead of NumPy."
    if how in ("detach", "detach_", "data"):
        return f"leave `.{how}{'' if how == 'data' else '()'}` away; what NumPy computes from it, compute with torch functions."
    if how == "grad":
        return "`torch.autograd.grad(…, create_graph=True)`: then the gradient can be differentiated."
    if how == "cast":
        return "keep real numbers in training: noise in place of rounding, or `x + (x.round() - x).detach()`."
    return "use a soft version (softmax or sigmoid) in the computation, or let the gradient pass: `hard + soft - soft.detach()`."

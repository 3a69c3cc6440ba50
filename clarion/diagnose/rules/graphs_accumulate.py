"""graphs-accumulate"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from itertools import islice
from typing import Any

from .. import engine
from ..engine import Node
from ..graph.holders import Live
from ..graph.reach import birth, is_freed, reachable
from ..rule import Diagnosis
from ..source.places import Where, file_line, source

Refs = list[weakref.ref[Node]]

_ROUNDS = 5  # of the training loop whose graphs must be alive
_HEARD, _LATER = 3, 20  # of them that were listened to closely: few are, after so many rounds
_PAIR, _LONG_AGO = (
    2,
    8,
)  # these are enough, too, where both are alive after so many more: a part of a loss that begins late
_LONG = 16  # and one, where it is alive after so many: others may have come since, unheard
_PATIENCE = 32  # rounds until graphs that a backward pass has used up are reported
_LONG_PATIENCE = 256  # the same for graphs that still could be used: an episode may be long
_FEW = 16  # a window of so many steps is small on purpose
_MOST = 100_000  # nodes that are watched at a time


class GraphsAccumulate(Diagnosis):
    """The graphs of past steps are kept alive, and there are more of them with every step.

    A tensor that was computed from parameters holds everything that it was computed from. Adding it to a running total, or
    keeping it in a list for a plot, keeps the graph of every step: memory grows until there is none left.

    Broken:

        total = 0
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss

    Fixed:

            total += loss.item()

    Keep numbers (`item()`), or tensors without history (`detach()`). Evaluations belong under `torch.no_grad()`.

    It stays silent on buffers that a later backward pass uses (the log-probabilities of an episode), on windows of a few steps
    (`deque(maxlen=10)`), and on whatever is gone after a few steps.
    """

    name = "graphs-accumulate"
    why = "memory grows with every step until there is none left, and freeing it all at the end takes long."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._watched: Refs = []  # nodes, while listening closely
        self._roots: Refs = []  # what backward() was called on
        self._unheard: Refs = []  # the same, where nobody knows what was computed from it
        self._suspects: list[Suspect] = []
        self._judged: set[tuple[str, int]] = set()  # lines that were suspected once
        self._wait = 1  # backward passes until the next look
        self._behind: set[Any] = set()  # lines whose graphs are kept by what was named
        self._early = 0  # searches that came too early to tell
        self._next_search = 0  # the round from which on it is worth while to search again

    def near_recorded(self, node: Node, inputs: Any, output: Any) -> None:
        """Remember what is recorded: will it be alive a few rounds later?"""
        if len(self._watched) < _MOST:
            self._watched.append(weakref.ref(node))
            self._wait = 1

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """Remember the root, and look around now and then."""
        edge = engine.node_of(tensors[0])
        if edge is not None and accumulates:
            if self.session.near or engine.knows_all_nodes:
                self._roots.append(weakref.ref(edge))
            elif engine.op(edge) is not None:  # what was compiled is one node, whichever of its results is kept
                self._unheard.append(weakref.ref(edge))
        if self._suspects:
            self._see_walked(tensors)
            self._judge()
        self._wait -= 1
        if self._wait <= 0:
            known = len(self._suspects)
            self._look()
            if len(self._suspects) > known:
                self._see_walked(tensors)  # it may be this very pass that goes through them

    def at_exit(self) -> None:
        """The program ends: nobody will make use of the suspects' graphs any more."""
        self._next_search = 0
        self._look()
        self._judge(at_exit=True)

    # Suspecting ----------------------------------------------------------------------------------

    def _look(self) -> None:
        self._wait = 16
        self._watched = [ref for ref in self._watched if ref() is not None]
        self._roots = [ref for ref in self._roots if ref() is not None]
        self._unheard = [ref for ref in self._unheard if ref() is not None]
        if (
            len(self._watched) + len(self._roots) + len(self._unheard) < _ROUNDS
            or self.ledger.round < self._next_search
        ):
            return
        if self._is_enough(self._old()):
            self._next_search = 2 * self.ledger.round
            gc.collect()  # what only waits for the collector is no leak
            self._search(self._old())

    def _is_enough(self, old: dict[int, list[Node]]) -> bool:
        """Is something kept of as many rounds that were listened to closely as to go through all there is? `Live` knows of the others."""
        if self.ledger.round < _LATER:
            return len(old) >= _ROUNDS
        now = len(self.ledger.round_marks)
        if len(old) >= _HEARD or (old and now - min(old) >= _LONG):
            return True
        return len(old) >= _PAIR and now - max(old) >= _LONG_AGO

    def _old(self) -> dict[int, list[Node]]:
        """The nodes that were recorded at least two rounds ago and are alive, by their round."""
        marks = self.ledger.round_marks
        by_round: dict[int, list[Node]] = {}
        if len(marks) >= _ROUNDS:
            for ref in (*self._watched, *self._roots, *self._unheard):
                node = ref()
                if node is not None and node.seq > marks[-2]:
                    by_round.setdefault(birth(node.seq, marks), []).append(node)
        return by_round

    def _search(self, old: dict[int, list[Node]]) -> None:
        """Which lines made the tensors that are kept, and who keeps them?"""
        live, marks = Live(), self.ledger.round_marks
        alive = set(live.nodes)
        # Who holds no tensor of an unheard loss holds something else, that was computed from it.
        alive -= {node for ref in self._unheard if (node := ref()) is not None and not live.tensors(node)}
        old = {number: kept for number, nodes in old.items() if (kept := [node for node in nodes if node in alive])}
        if not self._is_enough(old):
            self._search_again()
            return
        lines: dict[Any, dict[int, Node]] = {}
        ends = _ends([node for nodes in old.values() for node in nodes], live, marks)
        for node in ends:
            lines.setdefault(file_line(node.place), {})[birth(node.seq, marks)] = node
        made = {node.place: lines[file_line(node.place)] for node in ends if node.place is not None}
        for node in live.nodes:  # of steps that were not listened to
            if node in alive and node.place in made and node.seq > marks[-2] and not live.consumers(node):
                made[node.place].setdefault(birth(node.seq, marks), node)
        found = [kept for kept in lines.values() if len(kept) >= _ROUNDS]
        if not found and not any(len(kept) > 1 for kept in lines.values()):
            # A chain that winds through several lines: its end stands for it.
            watched = {node.seq for nodes in old.values() for node in nodes}
            behind = [{birth(n.seq, marks): n for n in reachable([end]) if n.seq in watched} for end in ends]
            lines = dict(enumerate(behind))
            found = [chain for chain in behind if len(chain) >= _ROUNDS]
        if not found and any(len(kept) > 1 for kept in lines.values()):
            self._search_again()
        roots = {root.seq for ref in (*self._roots, *self._unheard) if (root := ref()) is not None}
        for kept in found:
            suspect = Suspect(kept, live, roots, self.ledger.round - len(marks), self.session.woke)
            if suspect.line is not None and suspect.line not in self._judged:
                self._judged.add(suspect.line)
                self._suspects.append(suspect)

    def _search_again(self) -> None:
        """It was too early to tell."""
        self._early += 1
        self._next_search = self.ledger.round + max(2, 1 << self._early >> 1)

    # Judging -------------------------------------------------------------------------------------

    def _see_walked(self, tensors: Any) -> None:
        """A pass that meets graphs of a suspect makes use of them."""
        oldest = max(suspect.oldest for suspect in self._suspects)
        for node in reachable(tensors, oldest):
            for suspect in self._suspects:
                suspect.walked = suspect.walked or node.seq in suspect.numbers

    def _judge(self, at_exit: bool = False) -> None:
        for suspect in list(self._suspects):
            verdict = suspect.verdict(self.ledger.round, self.ledger.round_marks, at_exit, self.session.woke)
            if verdict is not None:
                self._suspects.remove(suspect)
            if verdict:
                self._accuse(suspect)

    def _accuse(self, suspect: Suspect) -> None:
        if suspect.holder is None and suspect.line in self._behind:
            return  # nobody but what was named already keeps these
        backward = self.ledger.last_backward
        holder = suspect.holder
        kept = f"{holder.text[0].upper()}{holder.text[1:]} keeps" if holder is not None else "Something keeps"
        age = self.ledger.round - suspect.first
        state = "are alive" if suspect.alive else "were kept"
        also = suspect.losses or [backward.root_place if backward is not None else None, *suspect.inputs]
        self._behind.update(map(file_line, also))
        self.report(
            suspect.place,
            f"{kept} the graphs of past steps: the tensors that `{source(suspect.place)}` made in {suspect.count} steps "
            f"{state}, the oldest for {age} steps, each with a graph of {suspect.size} operations or more. No later "
            "backward pass goes through them.",
            fix=suspect.remedy(),
            also=also,
        )


def _sequence(node: Node) -> int:
    return node.seq


def _ends(nodes: list[Node], live: Live, marks: Sequence[int]) -> list[Node]:
    """Where the way up from these nodes ends: at a node that nothing was computed from, or only, one round later, by the
    line that made it (`total += loss`). Without those that have no graph to speak of (a clone of a parameter)."""
    ends = []
    stack, seen = list(nodes), set(nodes)
    while stack:
        node = stack.pop()
        line, number = file_line(node.place), birth(node.seq, marks)
        above = [c for c in live.consumers(node) if file_line(c.place) != line or birth(c.seq, marks) <= number]
        behind = [edge for edge in node.edges if edge is not None]
        if not above and (len(behind) > 1 or any(map(engine.is_node, behind))):
            ends.append(node)
        for consumer in above:
            if consumer not in seen:
                seen.add(consumer)
                stack.append(consumer)
    return ends


def _inputs(node: Node) -> list[Where]:
    """The lines that made what the line of a node used."""
    line = file_line(node.place)
    found: list[Where] = []
    stack, seen = [node], {node}
    while stack and len(found) < 3:
        for edge in stack.pop().edges:
            if not engine.is_node(edge) or edge in seen:
                continue
            seen.add(edge)
            if file_line(edge.place) == line and len(seen) < 50:
                stack.append(edge)
            else:
                found.append(edge.place)
    return found


class Suspect:
    """A line whose tensors of several rounds are alive: the node of one of them per round."""

    def __init__(self, kept: dict[int, Node], live: Live, roots: set[int], offset: int, woke: int) -> None:
        nodes = [kept[number] for number in sorted(kept)]
        newest = nodes[-1]
        self.first = max(offset + min(kept), 0)  # the round of the first
        self.place = (newest if len({n.place for n in nodes}) == 1 else live.top(newest)).place
        self.line = file_line(self.place)
        self.numbers = {node.seq for node in nodes}
        self.oldest = max(self.numbers)
        self.holder = live.holder(nodes[0])
        self.size = sum(1 for _ in islice(reachable(nodes[:1]), 10_000))
        # The loss that is kept along with it; if what backward() was called on is not behind it, what it was made from.
        losses = (n.place for n in islice(reachable([newest]), 10_000) if n.seq in roots)
        self.losses: list[Where] = list(islice(losses, 1))
        self.inputs = _inputs(newest)
        self.walked = False  # by a later backward pass
        self._woke = woke  # the last step of the rest before: passes of a later rest were not heard
        self.alive = self.count = len(nodes)
        self._used_up = is_freed(newest)
        self._refs = [weakref.ref(node) for node in nodes]

    def verdict(self, now: int, marks: Sequence[int], at_exit: bool, woke: int) -> bool | None:
        """True: it is guilty. False: it is not. None: not known yet."""
        if self.walked:
            return False
        before, self.alive = self.alive, sum(ref() is not None for ref in self._refs)
        if self.alive < before and woke != self._woke:
            return False
        if self.alive < before:
            # All at once: a list of one epoch. One by one: a buffer that throws away the oldest, after so many rounds.
            at_once = before - self.alive >= 0.8 * len(self._refs) and not self._is_small()
            return at_once or now - self.first > _FEW
        if at_exit or now - self.first >= (_PATIENCE if self._used_up else _LONG_PATIENCE):
            return self._has_grown(marks) or (at_exit and self.alive > _FEW and not self._is_small())
        return None

    def _has_grown(self, marks: Sequence[int]) -> bool:
        """Has the line made more since, and may whoever holds the oldest hold any number of them?"""
        live, oldest, youngest = Live(), self._refs[0](), min(self.numbers)
        later = [node for node in live.nodes if node.seq < youngest and node.place == self.place]
        self.count += len({birth(node.seq, marks) for node in later})
        if oldest is not None:
            self.holder = live.holder(oldest) or self.holder
        return bool(later) and not self._is_small()

    def _is_small(self) -> bool:
        """Are they held by a deque that never holds many?"""
        return self.holder is not None and self.holder.limit is not None and self.holder.limit <= _FEW

    def remedy(self) -> str:
        """What to do."""
        name = self.holder.name if self.holder is not None else None
        if not self._used_up:
            return (
                "if nothing will be differentiated, compute it under `with torch.no_grad():`; "
                f"otherwise keep `.detach()` of it{f' in `{name}`' if name else ''}, or the number: `.item()`."
            )
        if self.holder is not None and self.holder.container is not None:
            return f"put the number into `{name}`, `.item()`, or the tensor without its history, `.detach()`."
        return f"use `loss.item()` (or `loss.detach()`) in `{source(self.place)}`."

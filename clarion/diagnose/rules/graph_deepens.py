"""graph-deepens"""

from __future__ import annotations

from typing import Any

from .. import engine
from ..engine import Node
from ..graph.holders import Holder, Live, holders, user_files
from ..graph.reach import birth, reachable
from ..rule import Diagnosis
from ..source.assignments import carrying_line
from ..source.places import Place, Where, file_line, here, text

_TIMES = 3  # measurements that must grow


class GraphDeepens(Diagnosis):
    """The backward pass goes through the graphs of earlier steps, and farther back with every step.

    A value that is computed in one step and used in the next (a hidden state, a running average, a baseline) brings its
    graph along. `retain_graph=True` silences the error that this raises, and leaves a step that is slower every time, with
    gradients through parameters that have changed since.

    Broken:

        for x, y in chunks:
            out, h = rnn(x, h)
            loss = criterion(out, y)
            loss.backward(retain_graph=True)

    Fixed:

        for x, y in chunks:
            out, h = rnn(x, h.detach())
            loss = criterion(out, y)
            loss.backward()

    It stays silent on sequences that grow within one step, on a state that is detached, and on a part that was computed
    once and is used again and again.
    """

    name = "graph-deepens"
    why = "every step takes longer and keeps more memory than the one before, and the gradients mix in old parameters."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._measured: dict[
            tuple[Place | None, Place | None], Depth
        ] = {}  # by the lines of backward() and of its root

    def near_backward_began(
        self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool
    ) -> None:
        """How much of what this pass will meet is from earlier rounds?"""
        marks = self.ledger.round_marks
        if len(marks) < 3 or (create and not accumulates):  # a penalty on gradients, an update to be differentiated
            return
        count, oldest = 0, marks[-2]
        for node in reachable(tensors):
            if node.seq > marks[-2]:
                count += 1
                oldest = max(oldest, node.seq)
        if not (count or self._measured):
            return
        root = engine.node_of(tensors[0])
        lines = here(), None if root is None else root.place
        depth = self._measured.get(lines)
        if not count:
            self._measured.pop(lines, None)
        elif depth is None or not depth.continues(count, oldest, self.ledger.round):
            self._measured[lines] = Depth(count, oldest, self.ledger.round)
        elif depth.times == _TIMES:
            self._report(tensors, depth, lines[0], retained)

    def _report(self, tensors: Any, depth: Depth, backward: Place | None, retained: bool) -> None:
        marks = self.ledger.round_marks
        where, holder, created = _carrier(tensors, marks)
        age = len(marks) - birth(depth.oldest, marks)
        carried = f"{holder.text} carries" if holder is not None else "a value carries"
        self.report(
            where,
            f"The backward pass at {text(backward)} goes through {depth.count} operations of earlier steps, up to {age} "
            f"steps back, and through more at every step: {carried} its graph over from one step to the next.",
            fix=_remedy(holder) + (", and call `backward()` without `retain_graph=True`." if retained else "."),
            also=[created],
        )


def _remedy(holder: Holder | None) -> str:
    if holder is None:
        return "`detach()` the value that the next step starts from"
    if holder.container is tuple:
        return f"cut the history between the steps: `{holder.name} = tuple(t.detach() for t in {holder.name})`"
    if holder.container is not None:
        return f"`detach()` what is put into `{holder.name}`"
    name = f"self.{holder.name}" if holder.owner is not None else holder.name
    return f"cut the history between the steps: `{name} = {name}.detach()`"


class Depth:
    """How many old nodes the passes of one line meet, and since which."""

    __slots__ = ("count", "oldest", "round", "times")

    def __init__(self, count: int, oldest: int, number: int) -> None:
        self.count, self.oldest, self.round, self.times = count, oldest, number, 1

    def continues(self, count: int, oldest: int, number: int) -> bool:
        """Take in another measurement: False if it is another graph, or does not grow."""
        if number == self.round:
            return True
        if oldest != self.oldest or count <= self.count:
            return False
        self.count, self.round = count, number
        self.times += 1
        return True


def _carrier(tensors: Any, marks: Any) -> tuple[Where, Holder | None, Where]:
    """The line that carries the state over, who holds the state meanwhile, and the line that computed it."""
    crossing: list[Node] = []  # nodes of an earlier round that a later one uses
    old: list[Node] = []
    now = len(marks)
    for node in reachable(tensors):
        number = birth(node.seq, marks)
        if number < now:
            old.append(node)
        if number >= now - 1:
            crossing += [e for e in node.edges if engine.is_node(e) and birth(e.seq, marks) < number]
    live = Live()
    files = user_files()
    for nodes in (crossing, old):
        places = {node.place for node in nodes}
        recent = [n for n in live.nodes if n.place in places and birth(n.seq, marks) >= now - 1]
        found = []
        for node in sorted(recent, key=lambda n: n.seq):
            created = file_line(node.place)
            for holder in holders(live.tensors(node)):
                line = carrying_line(holder, created, files)
                if line is not None:
                    found.append((line != created, line, holder, created))
        if found:
            found.sort(key=lambda f: f[0])
            return found[0][1:]
    newest = min(crossing or old, key=lambda n: n.seq)
    return newest.place, None, newest.place

"""graph-retained-unused"""

from __future__ import annotations

import weakref
from typing import Any

from .. import engine
from ..books.records import APPLIED, Backward
from ..engine import Node
from ..graph.reach import reachable, saved_bytes, size_text
from ..rule import Diagnosis
from ..source.places import Place, called, here

_GRAPHS = 3  # that must have been retained for nothing, if the program ends
_IN_A_ROW = 20  # while it runs: a second pass may come only now and then (a penalty at every 16th step)
_MOST = 8  # that are watched at a time: beyond that, whoever keeps them is somebody else's business


class GraphRetainedUnused(Diagnosis):
    """`retain_graph=True`, and no second pass ever goes through the graph.

    A backward pass releases what the graph has saved as it goes; with `retain_graph=True` all of it stays until the last
    tensor of the graph is gone, usually well into the next forward pass. It also hides the error that would tell of a graph
    used twice by mistake.

    Broken:

        loss = criterion(model(x), y)
        loss.backward(retain_graph=True)
        optimizer.step()

    Fixed:

        loss.backward()

    It stays silent if any later pass goes through any part of the graph (two losses that share an encoder), with
    `create_graph=True`, which retains by itself, and where no update uses the gradients (maps that explain a prediction).
    """

    name = "graph-retained-unused"
    why = "the saved values of every step stay in memory for nothing, and a graph that is used twice by mistake goes unseen."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._retained: list[Retained] = []
        self._unused: dict[Place, int] = {}
        self._last: dict[Place, Retained] = {}  # of these, the last one
        self._settled: set[Place] = set()  # lines that are known to retain for a reason, or were reported

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """Does this pass go through a graph that was retained? And does it retain another one?"""
        if self._retained:
            self._see_walked(tensors)
            self._count_dropped()
        if retained and not create and not engine.by_library():
            place = here()
            if place is not None and place not in self._settled:
                this = self.ledger.recent[-1] if accumulates and self.session.near else None
                self._retained.append(Retained(place, tensors, "backward()" if accumulates else "grad(…)", this))
                del self._retained[:-_MOST]

    def at_exit(self) -> None:
        """The program ends: there will be no second pass."""
        self._count_dropped(at_exit=True)
        for place, count in self._unused.items():
            if count >= _GRAPHS and place not in self._settled:
                self._report(self._last[place], count)

    def _see_walked(self, tensors: Any) -> None:
        numbers = {node.seq for node in reachable(tensors, max(graph.oldest for graph in self._retained))}
        for graph in self._retained:
            if not numbers.isdisjoint(graph.numbers):
                self._settle(graph.place)

    def _settle(self, place: Place) -> None:
        self._settled.add(place)
        self._retained = [graph for graph in self._retained if graph.place != place]

    def _count_dropped(self, at_exit: bool = False) -> None:
        for graph in list(self._retained):
            if graph.place in self._settled or not (at_exit or graph.is_gone()):
                continue
            self._retained.remove(graph)
            if graph.this is not None and graph.this.used != APPLIED:
                continue
            self._last[graph.place] = graph
            count = self._unused[graph.place] = self._unused.get(graph.place, 0) + 1
            if count >= (_GRAPHS if at_exit else _IN_A_ROW):
                self._settle(graph.place)
                self._report(graph, count)

    def _report(self, graph: Retained, count: int) -> None:
        if graph.call != "backward()" and not _asks_for_it(graph.place):
            return
        self.report(
            graph.place,
            f"The graphs of {count} backward passes were kept with `retain_graph=True` ({len(graph.numbers)} operations, "
            f"{size_text(graph.bytes)} of saved values each) and dropped: no second pass went through any part of them.",
            fix=f"`{graph.call}` without `retain_graph=True`.",
        )


def _asks_for_it(place: Place) -> bool:
    """Does the user's own line say `retain_graph`? The functions of `autograd.functional` retain by themselves."""
    call = called(place)
    return call is not None and any(keyword.arg == "retain_graph" for keyword in call.keywords)


class Retained:
    """A graph that was retained: the numbers of its nodes, whether any of them is alive, and the pass (if it was heard of closely)."""

    def __init__(self, place: Place, tensors: Any, call: str, this: Backward | None) -> None:
        nodes: list[Node] = list(reachable(tensors))
        self.place, self.call, self.this = place, call, this
        self.numbers = {node.seq for node in nodes}
        self.oldest = max(self.numbers, default=0)
        self.bytes = saved_bytes(nodes)
        self._refs = [weakref.ref(node) for node in nodes]

    def is_gone(self) -> bool:
        """Has every node died?"""
        while self._refs and self._refs[-1]() is None:
            self._refs.pop()
        return not self._refs

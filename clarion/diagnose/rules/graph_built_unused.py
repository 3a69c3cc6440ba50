"""graph-built-unused"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from .. import engine
from ..engine import Node, Tensor
from ..finding import INFO, WARN
from ..graph.reach import reachable, saved_bytes, size_text
from ..rule import Diagnosis
from ..source.places import Place, file_line

_GRAPHS = 10
_MUCH_TIME = 0.10  # of the time since the program began
_MUCH_MEMORY = 0.25  # of the most memory that the program has had


class GraphBuiltUnused(Diagnosis):
    """Graphs are built in eval mode, and dropped without a backward pass.

    `eval()` switches dropout and batch normalisation; it does not switch recording off. Without `torch.no_grad()` every
    evaluated batch records a graph that keeps all intermediate values until it is dropped.

    Broken:

        model.eval()
        for x, y in loader:
            total += criterion(model(x), y).item()

    Fixed:

        model.eval()
        with torch.no_grad():
            for x, y in loader:
                total += criterion(model(x), y).item()

    It stays silent where the graph is used: adversarial examples, saliency maps, training a model in eval mode. It is a
    remark only, unless the graphs take more than 10 % of the time or 25 % of the memory.
    """

    name = "graph-built-unused"
    level = INFO
    why = "recording takes time, and every intermediate value stays in memory until the graph is dropped."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._depth = 0  # modules inside each other
        self._began: int | None = None  # the sequence number when the outermost module was called, if it counts
        self._graphs: list[Graph] = []  # that wait: will they be used?
        self._phase = 0  # counts calls of train() and eval()
        self._exempt: tuple[int, int] | None = None  # the phase in which graphs are used: all belong to that use
        self._unused: dict[tuple[str, int], list[Graph]] = {}
        self._kept: set[tuple[str, int]] = set()  # lines whose graphs live on: not dropped, but a case for another rule
        self._start = perf_counter()

    # Building ------------------------------------------------------------------------------------

    def on_training_set(self, module: Any, training: bool) -> None:
        """A new phase begins."""
        self._phase += 1
        self._depth = 0

    def near_module_entered(self, module: Any) -> None:
        """Is it the outermost call, in eval mode, with recording on?"""
        if self._depth == 0:
            counts = not module.training and engine.recording() and self._exempt != self._now()
            self._began = engine.mark() if counts else None
        self._depth += 1

    def _now(self) -> tuple[int, int]:
        return self._phase, self.ledger.round

    def near_module_left(self, module: Any, output: Any) -> None:
        """The outermost call has returned: did it build a graph?"""
        self._depth = max(self._depth - 1, 0)
        if self._depth or self._began is None:
            return
        began, self._began = self._began, None
        heads = [
            engine.node(tensor)
            for tensor in _tensors(output)
            if engine.node(tensor) is not None and engine.node(tensor).seq < began
        ]
        if not heads:
            return
        self._collect()
        last = self._graphs[-1] if self._graphs else None
        if last is not None and any(last.contains(edge) for head in heads for edge in head.edges):
            return  # a loss in eval mode, on top of the model's graph
        self._graphs.append(Graph(heads, began, self._now()))

    def near_recorded(self, node: Node, inputs: Any, output: Any) -> None:
        """What is computed from the last graph's result belongs to it: the line of its last operation names it."""
        if self._graphs:
            self._graphs[-1].grow(node, output)

    # Judging -------------------------------------------------------------------------------------

    def on_backward_began(self, tensors: Any, gradients: Any, retained: bool, create: bool, accumulates: bool) -> None:
        """A pass through one of the graphs: it is used, and so is, perhaps, what belongs to it."""
        if not self._graphs:
            return
        numbers = [node.seq for node in reachable(tensors, self._graphs[0].began)]
        if any(graph.covers(numbers) for graph in self._graphs):
            self._graphs.clear()
            self._exempt = self._now()
            for unused in self._unused.values():
                unused[:] = [graph for graph in unused if graph.phase != self._exempt]

    def at_exit(self) -> None:
        """The program ends: what was not used will not be."""
        self._collect(at_exit=True)

    def _collect(self, at_exit: bool = False) -> None:
        """Count the graphs that are gone; forget those that somebody keeps for longer."""
        waiting = []
        for graph in self._graphs:
            line = file_line(graph.place)
            if line is None or line in self._kept:
                continue
            if at_exit or graph.is_gone():
                self._count(graph, line)
            elif self.ledger.round - graph.phase[1] < 2:
                waiting.append(graph)
            else:
                self._kept.add(line)
        self._graphs = waiting

    def _count(self, graph: Graph, line: tuple[str, int]) -> None:
        unused = self._unused.setdefault(line, [])
        if len(unused) < _GRAPHS:
            unused.append(graph)
            if len(unused) == _GRAPHS:
                self._report(graph.place, unused)

    def _report(self, place: Place | None, graphs: list[Graph]) -> None:
        operations = sum(graph.operations for graph in graphs)
        memory = max(graph.bytes for graph in graphs)
        seconds = operations * _cost_of_recording()
        time_share = seconds / max(perf_counter() - self._start, 1e-9)
        memory_share = memory / max(_peak_memory(), 1)
        self.report(
            place,
            f"{len(graphs)} graphs were built here in eval mode and dropped without a backward pass: "
            f"{operations // len(graphs)} operations and {size_text(memory)} of kept values each, about "
            f"{1e3 * seconds:.2g} ms of recording in all ({time_share:.1%} of the time so far).",
            fix="`with torch.no_grad():` (or `torch.inference_mode()`) around the evaluation, or `@torch.no_grad()` on its "
            "function.",
            level=WARN if time_share > _MUCH_TIME or memory_share > _MUCH_MEMORY else INFO,
        )


class Graph:
    """A graph that an eval-mode call built."""

    def __init__(self, heads: list[Node], began: int, phase: tuple[int, int]) -> None:
        self.began, self.phase = began, phase
        self.place = heads[0].place
        self._ended = min(head.seq for head in heads)
        self.operations = int(began - self._ended)
        self.bytes = saved_bytes(reachable(heads, began))
        self._heads = [weakref.ref(head) for head in heads]
        self._numbers = {head.seq for head in heads}
        self._is_scalar = False

    def contains(self, edge: Any) -> bool:
        """Is a node one of its results, or computed from them?"""
        return engine.is_node(edge) and edge.seq in self._numbers

    def grow(self, node: Node, output: Any) -> None:
        """Take in a node that was computed from it."""
        for edge in node.edges:
            if engine.is_node(edge) and edge.seq in self._numbers:
                self._numbers.add(node.seq)
                self.operations += 1
                is_scalar = output is not None and engine.size(output) == 1
                if is_scalar or not self._is_scalar:  # a loss names the graph better than what else was computed
                    self.place, self._is_scalar = node.place, is_scalar
                return

    def covers(self, numbers: list[int]) -> bool:
        """Is one of these nodes its own?"""
        return any(self._ended <= number <= self.began for number in numbers)

    def is_gone(self) -> bool:
        """Have all of its results died?"""
        return all(head() is None for head in self._heads)


def _tensors(output: Any) -> Iterator[Tensor]:
    """The tensors in what a module returned."""
    if engine.is_tensor(output):
        yield output
    elif isinstance(output, (list, tuple)):
        for value in output:
            yield from _tensors(value)
    elif isinstance(output, dict):
        yield from _tensors(list(output.values()))
    elif hasattr(output, "__dataclass_fields__"):
        yield from _tensors(list(vars(output).values()))


def _cost_of_recording() -> float:
    """Seconds that it takes here to record one operation."""
    seconds: float = engine.cost_of_recording()
    return seconds


def _peak_memory() -> int:
    """The most memory that this process has had, in bytes; 0 if the system does not say."""
    try:
        import resource
        import sys
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024

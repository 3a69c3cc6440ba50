"""Results that require a gradient: the backward pass of a compiled function is recorded behind it, and replayed when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.backward import gradients
from ..core.hooks import NodeHooks
from ..core.node import FREED, Node
from ..core.saved import freed_error
from ..core.tensor import Tensor, new_tensor
from ..core.versions import Claim
from ..errors import EngineError, SavedValueOverwrittenError
from ..events import Hub, hub
from ..kernels.quiet import restore, silence
from . import replay
from .recording import reads, slots_in


class Passage(Node):
    """Stands between an argument that has a graph and the function: what is recorded ends here."""

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        return (g,)

    apply_tensors = apply_raw


def entering(tensor: Tensor) -> Tensor:
    """An argument that has a graph, as the function gets it while it is recorded."""
    made = new_tensor(tensor._array)
    node = Passage()
    node.blank()
    node.edges, node.nrs = (tensor._edge,), (tensor._nr,) if tensor._nr else None
    made._edge, made._rg, made._vc = node, True, tensor._counter()
    return made


class Way:
    """A way back that was recorded: from one result, or from all of them, to the targets."""

    def __init__(self, recording: Any, results: list[Tensor], targets: list[Tensor], seeds: list[Tensor]) -> None:
        self.seeds = [seed._array.slot for seed in seeds]
        first = len(recording.steps)
        try:
            with _unheard(), _closed([node for node, _ in recording.passages]):
                found = gradients(results, targets, seeds, retain_graph=True, allow_unused=True)
        except Exception as error:
            recording.refuse(f"its backward pass raises {type(error).__name__}")  # if it is ever asked for
        if recording.problem is not None:
            return
        self.grads = [None if g is None else g._array.slot for g in found]
        # A gradient that shares memory with another one, or with what was given, is copied: leaves take gradients over.
        others = [*[seed._array.array for seed in seeds], *[known.array for known in recording.tracked.values()]]
        self.copied: list[bool] = []
        for g in found:
            mine = None if g is None else g._array.array
            self.copied.append(mine is not None and any(np.may_share_memory(mine, other) for other in others))
            others += [mine] if mine is not None else []
        self.results = [slot for slot in self.grads if slot is not None]
        self.steps = replay.needed(recording.steps[first:], self.results)
        del recording.steps[first:]
        made = {slot for step in self.steps for slot in slots_in(step.outs)} | set(self.seeds)
        self.reads = ({slot for step in self.steps for slot in reads(step)} | set(self.results)) - made

    def prepared(self, saved: list[int], recording: Any) -> Any:
        """`run(seeds, kept)`: the gradients of the targets, None where this way does not lead."""
        places = [i for i, slot in enumerate(saved) if slot in self.reads]
        run = replay.prepared(self.steps, [*self.seeds, *[saved[i] for i in places]], self.results, recording)

        def backward(seeds: Any, kept: Any) -> list[Any]:
            found = iter(run(*seeds, *[kept[i] for i in places]))
            grads = [None if slot is None else next(found) for slot in self.grads]
            return [g.copy() if copied else g for g, copied in zip(grads, self.copied, strict=True)]

        return backward


class Backward:
    """The recorded backward pass: which results it begins with, where its gradients go, and its steps.

    NOTE [One of several]: a program may use some of the results alone. The others then have no gradient, which is not one of
    zeros: what only they depend on gets none, and zeros times infinity are no numbers. So the way back from each result is
    recorded, too, and where a gradient is missing those of the others are added up.
    """

    def __init__(self, recording: Any, results: list[Tensor]) -> None:
        self.results = [t._array.slot for t in results]
        self.targets = _ends(results)
        if not self.targets:
            recording.refuse("its results require a gradient that goes nowhere")
            return
        seeds = [new_tensor(recording.array(np.ones(t._array.shape, t._array.dtype))) for t in results]
        self.meta = [(t._array.shape, t._array.dtype) for t in results]
        self.inner = _inner(results)
        self.ways = [Way(recording, results, self.targets, seeds)]
        if len(results) > 1:
            for result, seed in zip(results, seeds, strict=True):
                if recording.problem is None:
                    self.ways.append(Way(recording, [result], self.targets, [seed]))

    def prepared(self, recording: Any) -> tuple[list[int], Any]:
        """What it reads of the forward pass, and `run(seeds, kept)`, which takes None for the seed of a result that is not used."""
        saved = sorted({slot for way in self.ways for slot in way.reads})
        whole = self.ways[0].prepared(saved, recording)
        single = [way.prepared(saved, recording) for way in self.ways[1:]]

        def backward(seeds: Any, kept: Any) -> list[Any]:
            if all(seed is not None for seed in seeds):
                return whole(seeds, kept)  # type: ignore[no-any-return]
            total: list[Any] = [None] * len(self.targets)
            for way, seed in zip(single, seeds, strict=True):
                for i, g in enumerate(way([seed], kept) if seed is not None else ()):
                    if g is not None:
                        total[i] = g if total[i] is None else total[i] + g
            return total

        return saved, backward


@contextmanager
def _closed(passages: list[Any]) -> Iterator[None]:
    """Nothing goes on behind the passages: the graphs of arguments may lead to the same parameters once more."""
    before = [(node, node.edges, node.nrs) for node in passages]
    for node in passages:
        node.edges, node.nrs = (), None
    try:
        yield
    finally:
        for node, edges, nrs in before:
            node.edges, node.nrs = edges, nrs


@contextmanager
def _unheard() -> Iterator[None]:
    """Nobody hears of the pass: the program did not ask for it."""
    before = {name: getattr(hub, name) for name in Hub.__slots__}
    for name in before:
        setattr(hub, name, None)
    try:
        yield
    finally:
        for name, handler in before.items():
            setattr(hub, name, handler)


def _inner(results: list[Tensor]) -> frozenset[int]:
    """The numbers of those results that others are computed from."""
    found = set()
    for t in results:
        stack, seen = list(t._edge.edges) if t._edge is not None else [], set()
        while stack:
            node = stack.pop()
            if isinstance(node, Node) and node not in seen:
                seen.add(node)
                stack += node.edges
        found |= {number for number, other in enumerate(results) if other is not t and other._edge in seen}
    return frozenset(found)


def _ends(results: list[Tensor]) -> list[Tensor]:
    """Leaves that the graph of the results ends in, and arguments that entered through a passage."""
    ends: dict[int, Tensor] = {}
    seen: set[Any] = set()
    stack: list[Any] = [t._edge for t in results]
    while stack:
        node = stack.pop()
        if isinstance(node, Tensor):
            if type(node._view) is not Claim:  # gradients of a view taken under no_grad vanish
                ends[id(node)] = node
        elif node is not None and node not in seen:
            seen.add(node)
            if isinstance(node, Passage):
                stand_in = new_tensor(None)
                stand_in._edge, stand_in._rg = node, True
                ends[id(node)] = stand_in
            else:
                stack += node.edges
    return list(ends.values())


class ResultHooks(NodeHooks):
    """The hooks of a compiled function's results. Refused where they would see a part of a gradient only."""

    __slots__ = ("inner",)

    def __init__(self, inner: frozenset[int]) -> None:
        super().__init__()
        self.inner = inner
        self.retain = _Retaining(self)

    def of_output(self, nr: int) -> Any:
        """Tensor hooks of one result."""
        self.refuse_inner(nr)
        return super().of_output(nr)

    def refuse_inner(self, nr: int) -> None:
        """No hook on a result that others are computed from."""
        if nr in self.inner:
            raise EngineError(
                "A hook on a result of a compiled function that another of its results is computed from would see a part of "
                "its gradient only.\nReturn the two from functions of their own, or call the function without torch.compile."
            )


class _Retaining(dict[int, Any]):
    """output number -> tensor that keeps its gradient."""

    def __init__(self, hooks: ResultHooks) -> None:
        self.hooks = hooks

    def __setitem__(self, nr: int, tensor: Any) -> None:
        self.hooks.refuse_inner(nr)
        super().__setitem__(nr, tensor)


class CompiledFunctionBackward(Node):
    """The history of what a compiled function gives: runs the recorded backward pass."""

    run: Any = None  # (seeds, saved arrays) -> gradients; a seed that is missing is None
    watched: Any = ()  # (counter, version, shape) of what was saved and can be written to by others
    inner: frozenset[int] = frozenset()  # results that others of them are computed from

    def _hooks(self) -> NodeHooks:
        if self.hooks is None:
            self.hooks = ResultHooks(self.inner)
        return self.hooks

    def apply_raw(self, g: Any, edges: Any = None) -> Any:
        if self.saved is FREED:
            raise freed_error(self)
        for counter, version, shape in self.watched:
            if counter.n != version:
                raise SavedValueOverwrittenError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation: "
                    f"[torch.FloatTensor {list(shape)}] is at version {counter.n}; expected version {version} "
                    "instead. It was an argument, a parameter or a result of a compiled function."
                )
        quiet = silence()
        try:
            return self.run(g if self.n_out > 1 else (g,), self.saved)
        finally:
            restore(quiet)

    def apply_tensors(self, g: Any, edges: Any = None) -> Any:
        raise EngineError("torch.compile with aot_autograd does not currently support double backward")

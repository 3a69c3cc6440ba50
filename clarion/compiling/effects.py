"""What a recorded call did beside computing: results, gradients, writes. A replay does the same to the tensors it finds."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..core.node import FREED, Node
from ..core.tensor import Tensor, new_tensor
from ..core.versions import VersionCounter
from ..pytree import tree_flatten
from .arrays import Recorded
from .gradients import Backward, CompiledFunctionBackward
from .recording import Recording, Ref, Step, Tracked


class NewGradient(NamedTuple):
    """`leaf.grad` became a new tensor: its array, and how often that was written."""

    leaf: Tensor
    slot: int
    writes: int


class Result(NamedTuple):
    """One leaf of what the function returned: a constant, a tensor that was there before, or a new one."""

    kind: str  # "constant", "known", "new"
    value: Any = None
    slot: int = -1
    used_up: bool = False  # it requires a gradient, and its graph is gone
    number: int | None = None  # it requires a gradient: which output of the backward pass's node it is


class Effects:
    """Everything that outlives a call."""

    def __init__(self, recording: Recording, result: Any) -> None:
        self.recording = recording
        self.gradients: list[NewGradient] = []
        self.cleared: list[Tensor] = []
        self.writes: list[tuple[Tensor, int]] = []
        self.backward: Backward | None = None
        self._alive: list[Tensor] = []
        leaves, self.shape = tree_flatten(result)
        self.consumed = _reachable(recording.consumed)
        self.results = [self._result(leaf) for leaf in leaves]
        for known in list(recording.tracked.values()):
            self._tensor(known)
        self._memory()
        if self._alive and recording.problem is None:
            self.backward = Backward(recording, self._alive, len(recording.steps))
        del self._alive

    def _result(self, leaf: Any) -> Result:
        if not isinstance(leaf, Tensor):
            if leaf is not None and not isinstance(leaf, (bool, int, float, str, complex)):
                self.recording.refuse(f"it returns a {type(leaf).__name__}")
            return Result("constant", leaf)
        known = self.recording.tracked.get(id(leaf))
        if known is not None:
            return Result("known", leaf)
        if type(leaf._array) is not Recorded:
            self.recording.refuse("it returns a tensor that was reached in a way that is not watched")
            return Result("constant", None)
        if leaf._view is not None and id(leaf._view.base) in self.recording.tracked:
            self.recording.refuse("it returns a view of a tensor that was there before")
        if leaf._hooks is not None or (leaf._edge is not None and leaf._edge.hooks is not None):
            self.recording.refuse("there is a hook on what it returns")
        if leaf._rg and leaf._edge is None:
            self.recording.refuse("it returns a new leaf that requires a gradient")
        used_up = leaf._edge is not None and leaf._edge in self.consumed
        number = None
        if leaf._rg and not used_up:
            if any(each is leaf for each in self._alive):
                self.recording.refuse("it returns a tensor twice")
            number = len(self._alive)
            self._alive.append(leaf)
        return Result("new", None, leaf._array.slot, used_up, number)

    def _tensor(self, known: Tracked) -> None:
        tensor = known.tensor
        now = tensor._array
        if type(now) is not Recorded or now.slot != known.slot:
            self.recording.refuse("other memory is put into a tensor (.data = …)")
            return
        if tensor._edge is not known.edge or tensor._rg is not known.needs:
            self.recording.refuse(
                "a tensor that was there before is written in place, and the write is part of the graph"
            )
            return
        if tensor._hooks is not None:
            self.recording.refuse("there is a hook on a tensor")
        version = 0 if tensor._vc is None else tensor._vc.n
        if version != known.version:
            self.writes.append((tensor, version - known.version))
        grad = tensor._grad
        if grad is known.grad:
            return
        if grad is None:
            self.cleared.append(tensor)
            return
        if type(grad._array) is not Recorded or grad._edge is not None or id(grad) in self.recording.tracked:
            self.recording.refuse("a gradient was put in place by hand, or has a graph of its own")
            return
        self.gradients.append(NewGradient(tensor, grad._array.slot, 0 if grad._vc is None else grad._vc.n))

    def _memory(self) -> None:
        """New tensors must not share memory with each other or with what was there before."""
        slots = [r.slot for r in self.results if r.kind == "new"] + [g.slot for g in self.gradients]
        values = [self.recording.arrays[slot] for slot in slots]
        before = [known.array for known in self.recording.tracked.values()]
        for i, mine in enumerate(values):
            for other in (*values[:i], *before):
                if overlap(mine, other):
                    self.recording.refuse("two of the tensors it leaves behind share memory")
                    return

    # Afterwards ---------------------------------------------------------------------------------------------

    def apply(self, found: dict[int, Any], node: Any = None) -> list[Any]:
        """Do the same to the tensors: `found` has the new arrays by slot. Gives the leaves of the result; `node` is their history."""
        for leaf in self.cleared:
            leaf._grad = None
        for leaf, slot, writes in self.gradients:
            grad = leaf._grad = new_tensor(found[slot])
            if writes:
                grad._vc = VersionCounter()
                grad._vc.n = writes
        for tensor, count in self.writes:
            counter = tensor._vc
            if counter is None:
                counter = tensor._vc = VersionCounter()
            counter.n += count
        return [self._made(result, found, node) for result in self.results]

    @staticmethod
    def _made(result: Result, found: dict[int, Any], node: Any) -> Any:
        if result.kind != "new":
            return result.value
        made = new_tensor(found[result.slot])
        if result.number is not None:
            made._edge, made._nr, made._rg = node, result.number, True
        if result.used_up:
            made._edge, made._rg = _used_up(), True
        return made

    def new_slots(self) -> list[int]:
        """The arrays that must be new at each replay."""
        return [r.slot for r in self.results if r.kind == "new"] + [g.slot for g in self.gradients]


@functools.cache
def _used_up() -> Node:
    """The history of a result whose graph was used up inside: a second backward pass is refused."""
    node = CompiledFunctionBackward()
    node.blank()
    node.saved = FREED
    return node


def overlap(a: Any, b: Any) -> bool:
    """Do two arrays share an element? (Where that is hard to say: yes.)"""
    try:
        return bool(np.shares_memory(a, b, max_work=10_000))
    except np.exceptions.TooHardError:
        return True


def _reachable(roots: list[Any]) -> set[Any]:
    seen: set[Any] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen and isinstance(node, Node):
            seen.add(node)
            stack += [edge for edge in node.edges if isinstance(edge, Node)]
    return seen


def slots_in(value: Any) -> list[int]:
    """All slots that a step's arguments or results name."""
    if isinstance(value, Ref):
        return [value.slot]
    if isinstance(value, (list, tuple)):
        return [slot for each in value for slot in slots_in(each)]
    if isinstance(value, dict):
        return [slot for each in value.values() for slot in slots_in(each)]
    return []


def reads(step: Step) -> list[int]:
    """The arrays that a step looks at or writes to."""
    return slots_in(step.args) + slots_in(step.options)

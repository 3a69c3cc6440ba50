"""What a recorded call did beside computing: results, gradients, writes. A replay does the same to the tensors it finds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.node import Node
from ..core.tensor import Tensor
from ..core.versions import INFERENCE
from ..pytree import tree_flatten
from .arrays import Recorded
from .gradients import Backward
from .numbers import Exported, is_read, text_of
from .recording import Recording, Tracked


class NewGradient(NamedTuple):
    """The gradient of a leaf became a new tensor: its array, and how often that was written."""

    leaf: int  # the slot of the leaf
    slot: int
    writes: int


class Result(NamedTuple):
    """One leaf of what the function returned: a constant, a tensor that was there before, a new one, or a value that was read."""

    kind: str  # "constant", "known", "new", "read"
    value: Any = None
    slot: int = -1
    used_up: bool = False  # it requires a gradient, and its graph is gone
    number: int | None = None  # it requires a gradient: which output of the backward pass's node it is
    writes: int = 0  # how often it was written in place
    inference: bool = False


class Effects:
    """Everything that outlives a call. Tensors that were there before are named by their slots: a replay finds others there."""

    def __init__(self, recording: Recording, result: Any) -> None:
        self.recording = recording
        self.gradients: list[NewGradient] = []
        self.cleared: list[int] = []
        self.writes: list[tuple[int, int]] = []
        self.backward: Backward | None = None
        self._alive: list[Tensor] = []
        self._counted: set[int] = set()
        leaves, self.shape = tree_flatten(result)
        self.appended: list[tuple[Any, list[Any]]] = []  # lists, and the shapes of what was appended to them
        for each in recording.appended:
            items = each.new()
            if items is None:
                recording.refuse("a list that it appends to is changed in another way, too")
            elif items:
                flat = [tree_flatten(item) for item in items]
                self.appended.append((each.target, [shape for _, shape in flat]))
                leaves += [leaf for more, _ in flat for leaf in more]
        self.printed: list[tuple[int, Any]] = []  # how many values, and how
        for given, how in recording.printed:
            self.printed.append((len(given), how))
            leaves += given
        self.consumed = reachable(recording.consumed)
        found: dict[int, Result] = {}
        self.results = [found.setdefault(id(leaf), self._result(leaf, id(leaf) in found)) for leaf in leaves]
        for known in list(recording.tracked.values()):
            self._tensor(known)
        self._memory()
        if self._alive and recording.problem is None:
            self.backward = Backward(recording, self._alive)
        del self._alive

    def _result(self, leaf: Any, again: bool) -> Result:
        if is_read(leaf):
            return Result("read", leaf, leaf.slot)
        if not isinstance(leaf, Tensor):
            text = text_of(leaf, self.recording) if type(leaf) is str else None
            if text is not None:
                return Result("read", text)
            if leaf is not None and not isinstance(leaf, (bool, int, float, str, complex)):
                self.recording.refuse(f"it returns a {type(leaf).__name__}")
            return Result("constant", leaf)
        known = self.recording.tracked.get(id(leaf))
        if known is not None:
            return Result("known", slot=known.slot)
        if type(leaf) is not Tensor:
            self.recording.refuse(f"it returns a tensor of a class of its own ({type(leaf).__name__})")
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
        if leaf._rg and not used_up and not again:
            number = len(self._alive)
            self._alive.append(leaf)
        inference = leaf._vc is INFERENCE
        writes = 0 if leaf._vc is None or inference else leaf._vc.n
        return Result("new", None, leaf._array.slot, used_up, number, writes, inference)

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
        if version != known.version and id(tensor._vc) not in self._counted:  # (views have one counter)
            self._counted.add(id(tensor._vc))
            self.writes.append((known.slot, version - known.version))
        grad = tensor._grad
        if grad is known.grad:
            return
        if grad is None:
            self.cleared.append(known.slot)
            return
        if type(grad._array) is not Recorded or grad._edge is not None or id(grad) in self.recording.tracked:
            self.recording.refuse("a gradient was put in place by hand, or has a graph of its own")
            return
        self.gradients.append(NewGradient(known.slot, grad._array.slot, 0 if grad._vc is None else grad._vc.n))

    def _memory(self) -> None:
        """New tensors must not share memory with each other or with what was there before."""
        new = {id(r): r for r in self.results if r.kind == "new"}  # (one tensor may be returned twice)
        slots = [r.slot for r in new.values()] + [g.slot for g in self.gradients]
        slots += list({r.slot for r in self.results if type(r.value) is Exported})
        values = [self.recording.arrays[slot] for slot in slots]
        before = [known.array for known in self.recording.tracked.values()]
        for i, mine in enumerate(values):
            for other in (*values[:i], *before):
                if overlap(mine, other):
                    self.recording.refuse("two of the tensors it leaves behind share memory")
                    return

    def left(self) -> list[Any]:
        """All of it, to be compared with another call's."""
        added = [[str(shape) for shape in shapes] for _, shapes in self.appended]
        return [str(self.shape), self.results, self.gradients, self.cleared, self.writes, added, self.printed]

    def new_slots(self) -> list[int]:
        """The arrays that must be new at each replay."""
        read = [slot for r in self.results if r.kind == "read" for slot in r.value.slots()]
        return [r.slot for r in self.results if r.kind == "new"] + [g.slot for g in self.gradients] + read


def overlap(a: Any, b: Any) -> bool:
    """Do two arrays share an element? (Where that is hard to say: yes.)"""
    try:
        return bool(np.shares_memory(a, b, max_work=10_000))
    except np.exceptions.TooHardError:
        return True


def reachable(roots: list[Any]) -> set[Any]:
    seen: set[Any] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen and isinstance(node, Node):
            seen.add(node)
            stack += [edge for edge in node.edges if isinstance(edge, Node)]
    return seen

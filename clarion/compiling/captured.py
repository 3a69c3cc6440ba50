"""Compiled functions on a GPU: the work of one call is captured, and replayed in one launch.

first call    runs as it is written; the code it runs is noted (version.py)
second        as it is written, too: whatever the host takes part in is heard (a value that is read, memory that is brought)
third         captured, and what it did to tensors is noted
later calls   replayed, if everything that the function reads is as it was, and where it was (watching.py)

A graph reads and writes the same memory at each replay. So arguments are copied to where it reads them, results are copied before they
are given away, and gradients that somebody still holds are not overwritten: such a call runs as it is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core import modes
from ..core.devices import HALVES, kind_of
from ..core.node import Node
from ..core.tensor import Tensor, new_tensor
from ..core.versions import INFERENCE
from ..errors import EngineError
from ..pytree import tree_flatten, tree_map, tree_unflatten
from .effects import reachable
from .recording import Recording, Tracked, hearing
from .watching import Watch

_CONSTANTS = (bool, int, float, str, complex, type(None))


def device_of(watch: Watch, given: list[Tensor]) -> Any:
    """The GPU that a function works on; None where it is the host."""
    for tensor in (*given, *[each for each, _ in watch.tensors]):
        if type(tensor._array) in HALVES:
            return kind_of(tensor._array)
    return None


def _is_diagnosis() -> bool:
    """Does a diagnosis look at something? (It does not while work is captured.)"""
    frame: Any = sys._getframe(2)
    while frame is not None:
        if "clarion.diagnose" in frame.f_globals.get("__name__", ""):
            return True
        frame = frame.f_back
    return False


@contextmanager
def listening(recording: Recording, where: Any) -> Iterator[None]:
    """Refuse what the host takes part in: a replay would not."""
    heard: dict[str, Callable[..., Any]] = {
        "to_host": where.to_host,
        "receive": where.receive,
        "receive_soon": where.receive_soon,
    }

    def told(name: str) -> Any:
        what = "a value is read on the host" if name == "to_host" else "something of the host is brought to the GPU"

        def call(array: Any) -> Any:
            if not _is_diagnosis():
                recording.refuse(what)
            return heard[name](array)

        return call

    vars(where).update({name: told(name) for name in heard})
    try:
        yield
    finally:
        for name in heard:
            del vars(where)[name]


class _Work:
    """The tensors that take part in a call while it is captured: those that were there before, and those it makes."""

    def __init__(self, recording: Recording, capture: Any, tensors: list[Tensor]) -> None:
        self.recording, self.capture = recording, capture
        gradients = [tensor._grad for tensor in tensors if tensor._grad is not None]
        self.leaves = {id(tensor) for tensor in tensors}
        self.kept = [each._array for each in (*tensors, *gradients)]  # (their numbers stay their own)
        self.memory = {id(capture.memory(array)) for array in self.kept if type(array) in HALVES}
        self.old = {id(capture.memory(each._array)): each for each in gradients}
        self.read: set[int] = set()  # gradients from before the call that it reads
        self.consumed: list[Any] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Refuse tensors that were reached in a way that is not watched."""
        heard: dict[str, Callable[..., None]] = {
            "applied": self._applied,
            "wrote": lambda tensor, how: self._known(tensor, "the function writes to"),
            "accumulated": lambda leaf: self._leaves([leaf], "the function changes the gradient of"),
            "cleared": lambda leaves, *_: self._leaves(leaves, "the function clears the gradient of"),
            "stepped": self._stepped,
            "backward_ended": self._ended,
        }
        with hearing(heard):
            yield

    def _applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        for tensor in inputs:
            for each in tensor if isinstance(tensor, (list, tuple)) else (tensor,):
                self._known(each, f"{op.name} takes")

    def _known(self, tensor: Any, what: str) -> None:
        if not isinstance(tensor, Tensor) or not tensor._array.size:
            return
        if type(tensor._array) not in HALVES:
            self.recording.refuse(f"{what} a tensor of the host")
            return
        memory = id(self.capture.memory(tensor._array))
        if memory in self.old:
            self.read.add(id(self.old[memory]))
        if memory not in self.memory and not self.capture.made(tensor._array):
            self.recording.refuse(f"{what} a tensor that was reached in a way that is not watched")

    def _leaves(self, leaves: Any, what: str) -> None:
        if any(id(leaf) not in self.leaves for leaf in leaves):
            self.recording.refuse(f"{what} a tensor that was reached in a way that is not watched")

    def _stepped(self, optimizer: Any) -> None:
        used = [param for group in optimizer.param_groups for param in group["params"] if param._grad is not None]
        self._leaves(used, "an optimizer changes")

    def _ended(self, roots: Any, retained: bool) -> None:
        if not retained:
            self.consumed += [node for node, _ in roots if isinstance(node, Node)]


class Captured:
    """The work of a call, captured; what it did to tensors; and the conditions for a replay."""

    def __init__(self, recording: Recording, watch: Watch, where: Any, given: list[Tensor], leaves: list[Any]) -> None:
        self.recording, self.watch, self.where = recording, watch, where
        counters = watch.counters()
        outside = [tensor for tensor, _ in watch.tensors if id(tensor) not in counters]
        reached = {id(tensor) for tensor in outside}
        self.same = [(i, tensor) for i, tensor in enumerate(given) if id(tensor) in reached]
        # Arguments: copies that the graph reads.
        self.inputs: dict[int, Tensor] = {}
        for i, tensor in enumerate(given):
            if id(tensor) not in reached:
                self.inputs[i] = new_tensor(tensor._array.copy())
        place = {id(tensor): self.inputs.get(i, tensor) for i, tensor in reversed(list(enumerate(given)))}
        self.positions = {id(copy): i for i, copy in self.inputs.items()}
        self.given = [place[id(leaf)] if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        self.tracked = [Tracked(tensor, -1) for tensor in outside]
        for tensor in outside:
            if type(tensor._array) not in HALVES:
                recording.refuse("a tensor of the host is reached beside those of the GPU")
        self.counted = [(tensor._array, tensor._array.copy()) for tensor in watch.counting()]  # steps of optimizers
        self.capture = where.capture()
        self.work = _Work(recording, self.capture, [*outside, *self.inputs.values()])
        self.steps: list[Any] = []  # (of a graph nobody sees them)
        self.quick = False  # nor is there a shorter way
        self.draws = self.writes_given = False
        self.beginnings = _NoBeginnings()

    def put_back(self) -> None:
        """The capture came to nothing, and its work was not done: gradients and counters are what they were."""
        for known in self.tracked:
            tensor = known.tensor
            tensor._array, tensor._grad = known.array, known.grad
            if tensor._vc is not None:
                tensor._vc.n = known.version
        for place, values in self.counted:
            place[...] = values

    def finish(self, result: Any) -> None:
        """What the call did beside computing; refuses what a replay could not do."""
        leaves, self.shape = tree_flatten(result)
        consumed = reachable(self.work.consumed)
        self.results = [self._result(leaf, consumed) for leaf in leaves]
        self.writes: list[tuple[Any, int]] = []
        self.gradients: list[tuple[Tensor, Tensor | None]] = []
        counted: set[int] = set()
        for known in self.tracked:
            self._tensor(known, counted)
        if any(copy._vc is not None and copy._vc.n for copy in self.inputs.values()):
            self.recording.refuse("it writes to an argument")
        if any(each.new() != [] for each in self.recording.appended):
            self.recording.refuse("it appends to a list, which a replay on a GPU does not")
        if self.recording.problem is None:
            self.holds = self.watch.compile()
            self._unheld = self._holders()

    def _result(self, leaf: Any, consumed: set[Any]) -> tuple[str, Any]:
        refuse = self.recording.refuse
        if not isinstance(leaf, Tensor):
            if not isinstance(leaf, _CONSTANTS):
                refuse(f"it returns a {type(leaf).__name__}")
            return "constant", leaf
        if id(leaf) in self.positions:
            return "given", self.positions[id(leaf)]
        if id(leaf) in self.work.leaves:
            return "known", leaf
        if type(leaf._array) not in HALVES or (leaf._array.size and not self.capture.made(leaf._array)):
            refuse("it returns a view of a tensor that was there before, or a tensor of the host")
        elif leaf._hooks is not None:
            refuse("there is a hook on what it returns")
        elif leaf._rg and (leaf._edge is None or leaf._edge not in consumed):
            refuse("its result has a graph of its own: on a GPU whole steps are captured, or what needs no gradient")
        return "new", leaf

    def _tensor(self, known: Tracked, counted: set[int]) -> None:
        """What became of a tensor that was there before, and what must hold of it before a replay."""
        tensor, refuse = known.tensor, self.recording.refuse
        if tensor._array is not known.array:
            refuse("other memory is put into a tensor (.data = …)")
        if tensor._edge is not known.edge or tensor._rg is not known.needs:
            refuse("a tensor that was there before is written in place, and the write is part of the graph")
        if tensor._hooks is not None:
            refuse("there is a hook on a tensor")
        if tensor._vc is not None and tensor._vc.n != known.version and id(tensor._vc) not in counted:
            counted.add(id(tensor._vc))
            self.writes.append((tensor._vc, tensor._vc.n - known.version))
        name = self.watch.stays(tensor, known.array)
        edge = "None" if known.edge is None else self.watch._constant(known.edge)
        self.watch._require(
            f"{name}._edge is {edge} and {name}._rg is {known.needs} and {name}._hooks is None", "a tensor's history"
        )
        if known.needs:
            self._gradient(name, known)

    def _gradient(self, name: str, known: Tracked) -> None:
        before, now = known.grad, known.tensor._grad
        self.watch._require(f"({name}._grad is None) is {before is None}", "whether a parameter has a gradient")
        if before is not None and (now is before or id(before) in self.work.read):
            memory = self.watch._constant(before._array)
            self.watch._require(f"{name}._grad._array is {memory}", "the memory of a gradient")
        if now is before:
            return
        if now is not None and (now._edge is not None or not self.capture.made(now._array)):
            self.recording.refuse("a gradient was put in place by hand, or has a graph of its own")
        self.gradients.append((known.tensor, now))

    def _holders(self) -> list[tuple[int, int]]:
        """How many hold each gradient, beside its leaf, and its array."""
        found = []
        for tensor, grad in self.gradients:
            if grad is not None:
                found.append((sys.getrefcount(grad) - (tensor._grad is grad), sys.getrefcount(grad._array)))
        return found

    def possible(self, leaves: list[Any]) -> bool:
        """Is everything as it was, and has each optimizer the form that was captured?"""
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        if any(given[i] is not tensor for i, tensor in self.same):
            return False
        if any(type(given[i]._array) is not type(copy._array) for i, copy in self.inputs.items()):
            return False
        try:
            if not self.holds():
                return False
            for again in self.capture.refresh:
                again.prepare()
        except (AttributeError, KeyError, IndexError, ValueError, EngineError):
            return False
        held = zip(self._holders(), self._unheld, strict=True)
        return all(now[0] <= then[0] and now[1] <= then[1] for now, then in held)

    def call(self, leaves: list[Any]) -> tuple[Any, bool]:
        """Replay: gives what the function would return. (Whether it is finite, nobody waits to know.)"""
        given = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        with modes.no_grad():
            for i, copy in self.inputs.items():
                copy.copy_(given[i])  # type: ignore[attr-defined]
        self.capture.replay()
        for counter, count in self.writes:
            counter.n += count
        for tensor, grad in self.gradients:
            tensor._grad = grad
        return self.result(given), True

    def result(self, given: list[Tensor]) -> Any:
        """What the call returns; new tensors are copies, for the next replay writes to the same memory."""
        made: dict[int, Tensor] = {}
        found = []
        for kind, value in self.results:
            if kind == "new":
                if id(value) not in made:
                    made[id(value)] = _copy(value)
                value = made[id(value)]
            found.append(given[value] if kind == "given" else value)
        return tree_unflatten(found, self.shape)

    def made_of(self) -> str:
        """What runs it."""
        return "captured on the GPU, in one launch"

    def description(self) -> list[str]:
        """It is one launch."""
        return [self.made_of()]


def _copy(value: Tensor) -> Tensor:
    out = new_tensor(value._array.copy())
    out._edge, out._nr, out._rg = value._edge, value._nr, value._rg
    if value._vc is INFERENCE:
        out._vc = INFERENCE
    return out


def why(error: BaseException) -> str:
    """What kept a call from being captured, in words."""
    if "capturing" in str(error):
        return "a value is read on the host, or something waits for the GPU"
    return f"it cannot be captured ({type(error).__name__}: {error})"


class _NoBeginnings:
    """A replay on a GPU is not explained afterwards: nobody waits for its numbers."""

    def keep(self, *_: Any) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """There is nothing to forget."""


def substituted(args: Any, kwargs: Any, given: list[Any]) -> tuple[Any, Any]:
    """Arguments with other leaves."""
    leaves = iter(given)
    made: tuple[Any, Any] = tree_map(lambda _: next(leaves), (args, kwargs))
    return made

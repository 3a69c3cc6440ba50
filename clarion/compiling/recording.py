"""One call of a function, recorded: every step that its arrays went through, and what became of its tensors.

The tensors that the function can reach (`watching.py` finds them) are *tracked*: while the call runs they hold recorded arrays
(arrays.py). Whatever touches a tensor that is not tracked ends the recording, for its steps would be missing.
"""

from __future__ import annotations

import gc
import itertools
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .. import events
from ..core import devices, modes, provenance
from ..core.node import Node
from ..core.tensor import Tensor
from ..forks import fork_safe
from ..kernels import captures, layout, registry
from ..kernels.mt19937 import Generator
from . import arrays
from .arrays import Recorded, RecordedKind

_lock = fork_safe(threading.RLock())  # one recording at a time: the table of kernels is everybody's


class Ref(NamedTuple):
    """Stands in a step for an array."""

    slot: int


class Step(NamedTuple):
    """One step: a kernel's name or a function, its arguments, the arrays that come of it, and the user's line."""

    function: Any
    args: Any
    options: Any
    outs: Any  # Ref, or a list or tuple of them and of None; () for a write
    place: Any


@contextmanager
def hearing(heard: dict[str, Any]) -> Iterator[None]:
    """Events are told to handlers by their names, and all operations."""
    stop = [events.subscribe(name, handler) for name, handler in heard.items()]
    modes.watch(True, "recording")
    try:
        yield
    finally:
        modes.watch(False, "recording")
        for each in stop:
            each()


def draws(step: Step) -> bool:
    """Does a step draw random numbers? (What the host computes for it, it computes anew each time.)"""
    if getattr(step.function, "__name__", "") == "<lambda>":
        return True
    return any(isinstance(each, Generator) for each in (*step.args, *step.options.values()))


class Tracked:
    """A tensor that the function can reach, as it was before the call."""

    __slots__ = ("array", "edge", "grad", "needs", "slot", "tensor", "version")

    def __init__(self, tensor: Tensor, slot: int) -> None:
        self.tensor, self.slot, self.array = tensor, slot, tensor._array
        self.version = 0 if tensor._vc is None else tensor._vc.n
        self.edge, self.grad, self.needs = tensor._edge, tensor._grad, tensor._rg


class Recording:
    """What is noted of one call."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.open = False
        self.problem: tuple[str, Any] | None = None
        self.steps: list[Step] = []
        self.tracked: dict[int, Tracked] = {}
        self.refresh: list[Any] = []  # what is done before each replay (kernels/captures.py)
        self.consumed: list[Any] = []  # nodes whose graph a backward pass has used up
        self.numbers: list[Any] = []  # that were read by the function (numbers.py)
        self.appended: list[Any] = []  # lists that it appends to
        self.printed: list[tuple[list[Any], Any]] = []  # what it prints, and how
        self.texts: dict[str, list[Any]] = {}  # texts that numbers were written into
        self.joining: dict[Any, list[Any]] = {}  # those that are being put together
        self.passages: list[tuple[Any, int]] = []  # where arguments with a graph came in, and their slots
        self._count = itertools.count()
        self._alive: list[weakref.ref[Recorded]] = []
        self.scalars: set[int] = set()  # slots whose values came as NumPy's numbers, without dimensions
        self.arrays: dict[int, Any] = {}  # slot -> the values, which keeps them alive

    # Noting --------------------------------------------------------------------------------------------

    def refuse(self, reason: str, place: Any = None) -> None:
        """The call cannot be replayed; it goes on unrecorded."""
        if self.problem is None:
            self.problem = (reason, place or provenance.here())
        self.open = False

    def array(self, values: Any) -> Recorded:
        """A recorded array around values."""
        made = Recorded(values, next(self._count))
        self._alive.append(weakref.ref(made))
        self.arrays[made.slot] = values
        return made

    def note(self, function: Any, args: Any, options: Any, outs: Any) -> None:
        """A step."""
        out = options.get("out")
        if out is not None and not all(type(o) is Recorded for o in (out if isinstance(out, tuple) else (out,))):
            self.refuse("something is written to an array that is not watched")
            return
        self.steps.append(Step(function, self._refs(args), self._refs(options), outs, provenance.here()))

    def note_results(self, function: Any, args: Any, options: Any, result: Any) -> Any:
        """A step with results, which are recorded from now on."""
        if isinstance(result, (list, tuple)):
            made: Any = type(result)([None if each is None else self._result(each) for each in result])
            outs: Any = type(result)([None if each is None else Ref(each.slot) for each in made])
        else:
            made = self._result(result)
            outs = Ref(made.slot)
        if self.problem is not None:
            return result
        self.note(function, args, options, outs)
        return made

    def _result(self, value: Any) -> Recorded:
        if not isinstance(value, (np.ndarray, np.generic)):
            self.refuse(f"a kernel gives a {type(value).__name__}, which is read on the host")
        made = self.array(np.asarray(value))
        if not isinstance(value, np.ndarray):
            self.scalars.add(made.slot)
        return made

    def _refs(self, value: Any) -> Any:
        kind = type(value)
        if kind is Recorded:
            return Ref(value.slot)
        if kind is list or kind is tuple:
            return kind([self._refs(each) for each in value])
        if kind is dict:
            return {name: self._refs(each) for name, each in value.items()}
        return value

    # Tensors -------------------------------------------------------------------------------------------

    def track(self, tensor: Tensor) -> Tracked:
        """Watch a tensor, and its gradient."""
        found = self.tracked.get(id(tensor))
        if found is None:
            made = self.array(tensor._array)
            found = self.tracked[id(tensor)] = Tracked(tensor, made.slot)
            tensor._array = made
            if tensor._grad is not None:
                self.track(tensor._grad)
        return found

    def _known(self, tensor: Any, what: str) -> None:
        if self.open and isinstance(tensor, Tensor) and type(tensor._array) is not Recorded:
            if threading.get_ident() == self.thread:
                self.refuse(f"{what} a tensor that was reached in a way that is not watched")

    def _applied(self, op: Any, inputs: Any, params: Any, outs: Any) -> None:
        for tensor in inputs:
            if isinstance(tensor, (list, tuple)):
                for each in tensor:
                    self._known(each, f"{op.name} takes")
            else:
                self._known(tensor, f"{op.name} takes")

    def _each_known(self, leaves: Any, *_: Any) -> None:
        for leaf in leaves:
            self._known(leaf, "the function changes the gradient of")

    def _stepped(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param._grad is not None:
                    self._known(param, "an optimizer changes")

    def _ended(self, roots: Any, retained: bool) -> None:
        if not retained:
            self.consumed += [node for node, _ in roots if isinstance(node, Node)]

    # Around the call -----------------------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[None]:
        """The engine's arrays are recorded in this block, in this thread."""
        with _lock, self._listening(), _shapes_known():
            kind = RecordedKind()
            registry.know("recorded", Recorded, kind._own, otherwise=arrays.kernel)
            devices._BY_ARRAY[Recorded] = kind
            devices.KINDS["cpu"] = devices.KINDS["recorded"] = kind
            devices._choose([*devices._choice.devices, _Here()])
            layout.ARRAYS[Recorded] = _restrided
            captures.set_current(self)
            arrays.active = self
            self.open = self.problem is None
            try:
                yield
            finally:
                self.open = False
                self._clean()
                arrays.active = None
                captures.set_current(None)
                del layout.ARRAYS[Recorded]
                devices._choose(devices._choice.devices[:-1])
                devices.KINDS["cpu"] = devices.HOST
                del devices.KINDS["recorded"], devices._BY_ARRAY[Recorded]
                registry.forget("recorded")

    @contextmanager
    def _listening(self) -> Iterator[None]:
        heard = {
            "applied": self._applied,
            "wrote": lambda tensor, how: self._known(tensor, "the function writes to"),
            "accumulated": lambda leaf: self._known(leaf, "the function changes the gradient of"),
            "cleared": self._each_known,
            "clipped": self._each_known,
            "stepped": self._stepped,
            "backward_ended": self._ended,
        }
        with hearing(heard):
            yield

    def _clean(self) -> None:
        """Put NumPy's arrays back wherever a recorded one has been left."""
        for known in self.tracked.values():
            tensor = known.tensor
            if type(tensor._array) is Recorded:
                tensor._array = tensor._array.array
            if tensor._grad is not None and type(tensor._grad._array) is Recorded:
                tensor._grad._array = tensor._grad._array.array
        if any(ref() is not None for ref in self._alive):
            _replace_everywhere([found for ref in self._alive if (found := ref()) is not None])


class _Here(devices.device):
    """The device of new tensors while a function is recorded: the host's, noted."""

    __slots__ = ()

    def __init__(self) -> None:
        self.type, self.index = "recorded", None


@contextmanager
def _shapes_known() -> Iterator[None]:
    """Arrays without memory find their kernels: they tell shapes. (While they are known every call of a kernel looks for them.)"""
    before = "clarion.kernels.meta.rules" in sys.modules
    from ..kernels.meta import rules

    before = before and rules.awake
    rules.wake()
    try:
        yield
    finally:
        if not before:
            registry.forget("meta")
            rules.awake = False


def _restrided(x: Any, shape: Any, strides: Any, offset: int) -> Any:
    return arrays.noted(layout.strided, (x, shape, strides, offset), {})


def _replace_everywhere(left: list[Recorded]) -> None:
    """Tensors, nodes and containers that still hold recorded arrays get NumPy's."""
    own = {id(left)}
    containers = []
    for holder in gc.get_referrers(*left):
        if isinstance(holder, Tensor):
            if type(holder._array) is Recorded:
                holder._array = holder._array.array
        elif type(holder) in (tuple, list, dict) and id(holder) not in own:
            containers.append(holder)
    for holder in containers:
        if type(holder) is list:
            holder[:] = arrays.plain(holder)
        elif type(holder) is dict:
            holder.update({name: arrays.plain(each) for name, each in holder.items() if type(each) is Recorded})
    tuples = [holder for holder in containers if type(holder) is tuple]
    for holder in gc.get_referrers(*tuples) if tuples else ():
        if isinstance(holder, Node) and type(holder.saved) is tuple:
            holder.saved = arrays.plain(holder.saved)


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

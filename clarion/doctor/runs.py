"""The two runs of a checkpointed region, operation by operation: where did the second one first do something else?

Beside what a region saves (checkpoints.py) PyTorch hands out nothing of it. While the session listens closely a mode lies below all
others in either run, and takes notes. (What listens otherwise is lifted off the stack during a backward pass.)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch.overrides import TorchFunctionMode

from . import lines, listening, values
from .hearing import tensors_in
from .lines import Place
from .nodes import held
from .patching import safely
from .vocabulary import named

_ARBITRARY = frozenset(["empty", "empty_like", "new_empty", "empty_strided"])  # their values mean nothing
_Noted = tuple[str, Place | None, int | None]


class Run(TorchFunctionMode):
    """What is computed while it lies on the stack: names, lines, values."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[_Noted] = []
        self.busy = 0  # calls that it handles: it is off the stack until they return

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        held.handling += 1
        self.busy += 1
        try:
            result = func(*args, **(kwargs or {}))
        finally:
            held.handling -= 1
            self.busy -= 1
        name = getattr(func, "__name__", "")
        if name[:2] != "__" or name in ("__getitem__", "__matmul__"):
            safely("checkpoints", self._note, name, result)
        return result

    def _note(self, name: str, result: Any) -> None:
        first = next(tensors_in(result), None)
        if first is not None:
            self.noted.append((named(name).name, lines.here(), None if name in _ARBITRARY else values.checksum(first)))

    def other_operation(self, again: Run) -> Place | None:
        """Where the second run first did something else: an operation that was left out, or one that is new."""
        for (name, place, _), (name_again, place_again, _) in zip(self.noted, again.noted, strict=False):
            if (name, place) != (name_again, place_again):
                return place if any(place_again == other for _, other, _ in self.noted) else place_again
        return None

    def other_value(self, again: Run) -> Place | None:
        """Where it first computed something else."""
        for before, after in zip(self.noted, again.noted, strict=False):
            if before != after:
                return before[1]
        return None


class Runs:
    """Both runs of a region."""

    def __init__(self) -> None:
        self.first: Run | None = Run() if _wanted() else None
        self.again: Run | None = None

    @contextlib.contextmanager
    def running_first(self) -> Iterator[None]:
        """The forward pass of the region."""
        with _lying(self.first):
            yield

    def repeated(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function of the region, whose calls are repetitions."""
        if self.first is None:
            return function

        def repeat(*args: Any, **kwargs: Any) -> Any:
            self.again = Run() if _may_lie() else None
            with _lying(self.again):
                return function(*args, **kwargs)

        return repeat

    def other_operation(self) -> Place | None:
        """Where the second run first did something else, if both were noted."""
        return None if self.first is None or self.again is None else self.first.other_operation(self.again)

    def other_value(self) -> Place | None:
        """Where the second run first computed something else, if both were noted."""
        return None if self.first is None or self.again is None else self.first.other_value(self.again)


def _wanted() -> bool:
    return listening.ear.open and _may_lie()


def _may_lie() -> bool:
    return not _hidden and not listening.stands_aside()


_lying_now: list[Run] = []
_hidden = False  # does something run that must not meet them?
_lifted: list[Run] = []


@contextlib.contextmanager
def _lying(run: Run | None) -> Iterator[None]:
    """It lies at the bottom of the stack: who counts the calls above his own finds the program's."""
    if run is None:
        yield
        return
    listening.change_stack(lambda stack: [run, *stack])
    _lying_now.append(run)
    try:
        yield
    finally:
        _lying_now.remove(run)
        listening.change_stack(lambda stack: [mode for mode in stack if mode is not run])


def hide(on: bool) -> None:
    """What was compiled runs: nothing lies on the stack meanwhile."""
    global _hidden
    if on is _hidden:
        return
    _hidden = on
    if on and _lying_now and not any(run.busy for run in _lying_now):
        _lifted[:] = _lying_now
        listening.change_stack(lambda stack: [mode for mode in stack if mode not in _lifted])
    elif _lifted:
        listening.change_stack(lambda stack: [*_lifted, *stack])
        _lifted.clear()

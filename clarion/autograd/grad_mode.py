"""`torch.autograd.grad_mode`: the switches that decide what is recorded, and a few more of the backward pass."""

from __future__ import annotations

from typing import Any, TypeVar

from ..core.modes import _Mode, state
from ..core.modes import enable_grad as enable_grad
from ..core.modes import inference_mode as inference_mode
from ..core.modes import no_grad as no_grad
from ..core.modes import set_grad_enabled as set_grad_enabled
from ..core.tensor import Tensor
from ..errors import EngineError

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

F = TypeVar("F")


class _Setting(_Mode):
    """A switch of this thread: as a statement it takes effect at once and stays; as a context or decorator it ends."""

    which: str

    def __init__(self, mode: bool) -> None:
        self.prev = getattr(state, self.which)
        self.mode = mode
        setattr(state, self.which, mode)

    def __call__(self, target: Any) -> Any:
        setattr(state, self.which, self.prev)
        return super().__call__(target)

    def __enter__(self) -> None:
        setattr(state, self.which, self.mode)

    def __exit__(self, *_: object) -> None:
        setattr(state, self.which, self.prev)

    def clone(self) -> _Setting:
        return self.__class__(self.mode)


class set_multithreading_enabled(_Setting):
    """May the backward pass use several threads? It runs in the one that called it; the switch is remembered."""

    which = "multithreading"


class enforce_grad_layout_policy(_Setting):
    """Do new gradients of leaves lie in memory as the leaves do? False: they may be taken over as they come."""

    which = "grad_layout"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


class _force_original_view_tracking(_Setting):
    """Is a view whose base was written taken anew step by step, or at once?"""

    which = "view_replay"


class _unsafe_preserve_version_counter(_Mode):
    """Writes inside are not counted."""

    def __init__(self, tensors: Any) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        self.before = tuple(tensor._version for tensor in self.tensors)

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        set_versions(self.tensors, self.before)

    def clone(self) -> _unsafe_preserve_version_counter:
        return self.__class__(self.tensors)


def set_versions(tensors: tuple[Tensor, ...], versions: tuple[int, ...]) -> None:
    """Set the counters of writes."""
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise EngineError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._counter().n = version


def is_multithreading_enabled() -> bool:
    """May the backward pass use several threads?"""
    return state.multithreading


def is_view_replay_enabled() -> bool:
    """Is a view whose base was written taken anew step by step?"""
    return state.view_replay

"""Seeing kernels run: below the graph, each operation with its arrays (`TorchDispatchMode`, selective checkpointing).

While nobody watches in any thread, nothing here is in the way of a kernel. The first watcher puts `_around` around all of
them (registry.surround); the last one that leaves takes it away.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..forks import fork_safe
from ..kernels import registry
from .devices import _BY_ARRAY as ARRAYS
from .namespace import OPS
from .tensor import Tensor, new_tensor

# watcher(name of the operation, its kernel, arguments, keyword arguments) -> the result
Watcher = Callable[[str, Any, tuple[Any, ...], dict[str, Any]], Any]


class _State(threading.local):
    watchers: tuple[Watcher, ...] = ()  # of this thread, the innermost last


state = _State()
_lock = fork_safe(threading.Lock())
_count = 0  # watchers of all threads


def _around(name: str, kernel: Any) -> Any:
    """The kernel of an operation, seen by watchers. What is no operation (words of a generator) is nobody's affair."""
    if name not in OPS:
        return kernel

    def run(*args: Any, **kwargs: Any) -> Any:
        watchers = state.watchers
        if not watchers:
            return kernel(*args, **kwargs)
        state.watchers = watchers[:-1]
        try:
            return watchers[-1](name, kernel, args, kwargs)
        finally:
            state.watchers = watchers

    return run


def onward(name: str, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a watcher calls to have the operation done: the next watcher sees it, or it runs."""
    if state.watchers:
        return _around(name, kernel)(*args, **kwargs)
    with Unwatched():
        return kernel(*args, **kwargs)


class Watching:
    """While it is entered, `watcher` is given every kernel that runs in this thread, and says what its result is."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def __enter__(self) -> Watching:
        global _count
        with _lock:
            _count += 1
            if _count == 1:
                registry.surround(_around)
        state.watchers = (*state.watchers, self._watcher)
        return self

    def __exit__(self, *_: object) -> None:
        global _count
        state.watchers = state.watchers[:-1]
        with _lock:
            _count -= 1
            if _count == 0:
                registry.surround(None)


class Unwatched:
    """While it is entered, nobody watches in this thread: what a kernel does inside is its own affair."""

    def __enter__(self) -> Unwatched:
        self._before, state.watchers = state.watchers, ()
        return self

    def __exit__(self, *_: object) -> None:
        state.watchers = self._before


def as_tensors(value: Any) -> Any:
    """Arrays as tensors, also in lists and tuples."""
    if type(value) in ARRAYS:
        return new_tensor(value)
    if type(value) in (list, tuple):
        return type(value)(as_tensors(each) for each in value)
    return value


def as_arrays(value: Any) -> Any:
    """The opposite of `as_tensors`."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(as_arrays(each) for each in value)
    return value

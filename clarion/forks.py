"""Locks that a forked process finds free: the thread that held one does not exist there."""

from __future__ import annotations

import os
import weakref
from typing import Any

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_PATIENCE = 5.0  # seconds: whoever is inside may be waiting for the thread that forks


def fork_safe(lock: Any) -> Any:
    """The lock itself, which a forked process will find free."""
    _locks.add(lock)
    return lock


def whole_over_forks(lock: Any) -> Any:
    """The lock itself (one that its thread may take twice): a process is forked while nobody is inside.

    So the new one finds whole what it guards: modules that are imported there, which Python leaves locked for ever, and tables.
    """
    taken: list[bool] = []

    def let_go() -> None:
        if taken.pop():
            lock.release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=lambda: taken.append(lock.acquire(timeout=_PATIENCE)),
            after_in_parent=let_go,
            after_in_child=taken.clear,
        )
    return fork_safe(lock)


def _free() -> None:
    for lock in tuple(_locks):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)

"""Locks that a forked process finds free: the thread that held one does not exist there."""

from __future__ import annotations

import os
import weakref
from typing import Any

_locks: weakref.WeakSet[Any] = weakref.WeakSet()


def fork_safe(lock: Any) -> Any:
    """The lock itself, which a forked process will find free."""
    _locks.add(lock)
    return lock


def _free() -> None:
    for lock in tuple(_locks):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)

"""Telling events: whoever fails of ours is taken out, and views let go of their nodes when the event is over."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from ..errors import DiagnosisError, DiagnosisWarning
from .nodes import at_home, held, release

failures: dict[str, BaseException] = {}
lock = threading.RLock()  # held while something is told: what another thread begins meanwhile has to wait


def _unlocked() -> None:
    global lock
    lock = threading.RLock()  # whoever held it stayed behind


os.register_at_fork(after_in_child=_unlocked)


def tell(handler: Any, *args: Any) -> None:
    """Call a handler of the hub. NOTE [Views] in nodes.py."""
    if not at_home():
        return
    aside = held.aside
    held.aside = aside + 1  # what a handler computes is not the program's
    try:
        with lock:
            handler(*args)
    finally:
        held.aside = aside
        if not aside:
            release()


def failed(what: str, error: Exception) -> None:
    """Something of ours broke: it is named in the summary, and no longer done."""
    if os.environ.get("CLARION_DIAGNOSE_DEBUG"):
        raise error
    failures.setdefault(what, error)
    from . import watching

    watching.take_out(what, error)


def guarded(heard: Callable[..., None]) -> Callable[..., None]:
    """What fails of ours is taken out, and not the program's business."""

    def call(*args: Any) -> None:
        try:
            tell(heard, *args)
        except (DiagnosisError, DiagnosisWarning):
            raise
        except Exception as error:
            failed("listening", error)

    return call

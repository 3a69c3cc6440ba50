"""Telling events: whoever fails of ours is taken out, and views let go of their nodes when the event is over."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..errors import DiagnosisError, DiagnosisWarning
from . import home
from .home import at_home
from .nodes import held, release

failures: dict[str, BaseException] = {}


def tell(handler: Any, *args: Any) -> None:
    """Call a handler of the hub. NOTE [Views] in nodes.py."""
    if not at_home():
        return
    aside = held.aside
    held.aside = aside + 1  # what a handler computes is not the program's
    try:
        with home.lock:
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

"""Telling events: whoever fails of ours is taken out, and views let go of their nodes when the event is over."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..diagnose.signals import of_the_program
from ..errors import DiagnosisError, DiagnosisWarning
from . import home
from .home import at_home
from .nodes import held, release

# What a handler asks of tensors is not for the program's own classes and modes to hear.
_unseen: Any = torch._C.DisableTorchFunction
_dispatches = torch._C._len_torch_dispatch_stack
failures: dict[str, BaseException] = {}
set_dynamo: Any = (
    None  # what Dynamo calls for every function that begins: gives what was there. None: nothing was compiled yet
)


def tell(handler: Any, *args: Any) -> None:
    """Call a handler of the hub. NOTE [Views] in nodes.py."""
    if not at_home():
        return
    aside = held.aside
    held.aside = aside + 1  # what a handler computes is not the program's
    dynamo = set_dynamo(None) if set_dynamo is not None else None  # nor is it to be compiled
    try:
        with home.lock, _unseen():
            if _dispatches() == 0:
                handler(*args)
            else:
                with _disable_current_modes():
                    handler(*args)
    finally:
        if dynamo is not None:
            set_dynamo(dynamo)
        held.aside = aside
        if not aside:
            release()


def uncompiled(function: Any) -> Any:
    """A function of ours that PyTorch calls: Dynamo is not to read it."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if set_dynamo is None:
            return function(*args)
        dynamo = set_dynamo(None)
        try:
            return function(*args)
        finally:
            set_dynamo(dynamo)

    return call


def failed(what: str, error: Exception) -> None:
    """Something of ours broke: it is named in the summary, and no longer done."""
    if of_the_program(error) or os.environ.get("CLARION_DIAGNOSE_DEBUG"):
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

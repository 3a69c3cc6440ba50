"""Around what `torch.compile` made, nothing listens: Dynamo would trace our mode and our hooks, and compile anew.

Whoever asks for a line (`listen_at`) gets it: in steps that are listened to closely, what was compiled runs as it is written
then. Rounding and random numbers may be others, so this is never done unasked.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from .. import diagnose
from . import listening, watching
from .nodes import held


def start(patch: Any) -> None:
    """Patch `torch.compile`."""

    def compiling(original: Any) -> Any:
        @functools.wraps(original)
        def compile(model: Any = None, **kwargs: Any) -> Any:
            made = original(model, **kwargs)
            if model is None:
                return lambda model: _wrapped(made(model), model, patch)
            return _wrapped(made, model, patch)

        return compile

    patch(torch, "compile", compiling)


def _wrapped(made: Any, model: Any, patch: Any) -> Any:
    if isinstance(made, torch.nn.Module):
        whole = type(made)  # OptimizedModule
        if not hasattr(vars(whole).get("__call__"), "clarion"):
            patch(whole, "__call__", lambda original: _aside(original, _as_written))
        return made
    return _aside(made, model) if callable(made) else made


def _as_written(module: Any, *args: Any, **kwargs: Any) -> Any:
    return module._orig_mod(*args, **kwargs)


def _is_asked() -> bool:
    """Does somebody want to know a line?"""
    session = diagnose._session
    return session is not None and session.listen_at is not None


def _aside(function: Any, written: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        heard = listening.ear.open
        if not heard or held.handling:
            return function(*args, **kwargs)
        if _is_asked():
            return written(*args, **kwargs)
        listening.set_open(False)
        watching._set_module_hooks(False)
        try:
            return function(*args, **kwargs)
        finally:
            watching.watch(True)

    call.clarion = True  # type: ignore[attr-defined]
    return call

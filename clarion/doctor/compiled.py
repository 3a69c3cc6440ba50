"""Around what `torch.compile` made, nothing listens: Dynamo would trace our mode and our hooks, and compile anew."""

from __future__ import annotations

import functools
from typing import Any

import torch

from . import listening, watching
from .nodes import held


def start(patch: Any) -> None:
    """Patch `torch.compile`."""

    def compiling(original: Any) -> Any:
        @functools.wraps(original)
        def compile(model: Any = None, **kwargs: Any) -> Any:
            made = original(model, **kwargs)
            if model is None:
                return lambda model: _wrapped(made(model), patch)
            return _wrapped(made, patch)

        return compile

    patch(torch, "compile", compiling)


def _wrapped(made: Any, patch: Any) -> Any:
    if isinstance(made, torch.nn.Module):
        whole = type(made)  # OptimizedModule
        if not hasattr(vars(whole).get("__call__"), "clarion"):
            patch(whole, "__call__", _aside)
        return made
    return _aside(made) if callable(made) else made


def _aside(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        heard = listening.ear.open
        if not heard or held.handling:
            return function(*args, **kwargs)
        listening.set_open(False)
        watching._set_module_hooks(False)
        try:
            return function(*args, **kwargs)
        finally:
            watching.watch(True)

    call.clarion = True  # type: ignore[attr-defined]
    return call

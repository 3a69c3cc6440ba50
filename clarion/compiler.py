"""`torch.compile` and `torch.compiler`: programs run as they are written; there is no compiler here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

_told = False


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself (as `torch.compile` it can be a decorator with options); says so once."""
    global _told
    if model is None:
        return lambda fn: compile(fn, **options)
    if not callable(model):
        raise TypeError(f"torch.compile expects a callable or a Module, not {type(model).__name__}")
    if not _told:
        _told = True
        warnings.warn(
            "torch.compile: clarion does not compile. The function runs as it is written, with the same results.",
            UserWarning,
            stacklevel=2,
        )
    return model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself: nothing is ever compiled."""
    return (lambda f: f) if fn is None else fn


def is_compiling() -> bool:
    """Is this code being compiled? No."""
    return False


def is_dynamo_compiling() -> bool:
    """Is this code being traced for compilation? No."""
    return False


def is_exporting() -> bool:
    """Is this code being exported? No."""
    return False


def reset() -> None:
    """Forget what was compiled: nothing."""


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names of all compilers: none."""
    return []


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no CUDA graphs."""

"""Attributes of PyTorch's, replaced and put back."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..errors import DiagnosisError, DiagnosisWarning
from .nodes import held
from .telling import failed, tell

undo: list[Callable[[], None]] = []


def safely(what: str, handler: Any, *args: Any) -> None:
    """Tell an event, from outside of the mode's handler."""
    try:
        tell(handler, *args)
    except (DiagnosisError, DiagnosisWarning):
        raise
    except Exception as error:
        failed(what, error)


def patch(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Put `make(original)` in the place of an attribute."""
    own = name in vars(owner)
    original = vars(owner)[name] if own else getattr(owner, name)
    new = make(original)
    setattr(owner, name, new)

    def put_back() -> None:
        if vars(owner).get(name) is new:  # else somebody else has patched it since: leave it
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)

    undo.append(put_back)


def telling(owner: Any, name: str, before: Any = None, after: Any = None) -> None:
    """Patch a method: `before(self, …)` and `after(result, self, …)` tell."""

    def make(original: Any) -> Any:
        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if before is not None and not held.aside:
                before(self, *args, **kwargs)
            result = original(self, *args, **kwargs)
            if after is not None and not held.aside:
                after(result, self, *args, **kwargs)
            return result

        return call

    patch(owner, name, make)

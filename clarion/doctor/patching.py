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


class _Patch:
    """One attribute with ours in its place; while the session rests another one stands there, or what was there before."""

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any], at_rest: Callable[[Any], Any] | None) -> None:
        self.owner, self.name = owner, name
        self.own = name in vars(owner)
        self.original = vars(owner)[name] if self.own else getattr(owner, name)
        self.new = make(self.original)
        self.quiet = self.new if at_rest is None else at_rest(self.original)
        setattr(owner, name, self.new)
        self.now = self.new

    def put(self, value: Any) -> None:
        """Let `value` stand there, unless somebody else has patched it since: that stays."""
        if value is not self.now and vars(self.owner).get(self.name, self.original) is self.now:
            if value is self.original and not self.own:
                delattr(self.owner, self.name)
            else:
                setattr(self.owner, self.name, value)
            self.now = value


_quiet: list[_Patch] = []  # those that stand back at rest


def patch(owner: Any, name: str, make: Callable[[Any], Any], at_rest: Callable[[Any], Any] | None = None) -> None:
    """Put `make(original)` in the place of an attribute; while the session rests, `at_rest(original)`."""
    made = _Patch(owner, name, make, at_rest)
    undo.append(lambda: made.put(made.original))
    if at_rest is not None:
        _quiet.append(made)
        undo.append(lambda: _quiet.remove(made))


def itself(original: Any) -> Any:
    """At rest what was there before stands in its place."""
    return original


def rest(on: bool) -> None:
    """The session rests, or no longer."""
    for made in _quiet:
        made.put(made.quiet if on else made.new)


def telling(owner: Any, name: str, before: Any = None, after: Any = None, at_rest: Any = None) -> None:
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

    patch(owner, name, make, at_rest)

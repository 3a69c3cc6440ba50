"""Attributes of PyTorch's, replaced and put back."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import DiagnosisError, DiagnosisWarning
from . import versions
from .nodes import held
from .telling import failed, tell

undo: list[Callable[[], Any]] = []


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
        self.is_read = name not in _CALLED and "_dynamo" not in getattr(owner, "__module__", "")

    def put(self, value: Any) -> None:
        """Let `value` stand there, unless somebody else has patched it since: that stays."""
        if value is not self.now and vars(self.owner).get(self.name, self.original) is self.now:
            if value is self.original and not self.own:
                delattr(self.owner, self.name)
            else:
                setattr(self.owner, self.name, value)
            self.now = value


_patches: list[_Patch] = []
resting = False
_quiet: list[_Patch] = []  # those that stand back at rest


def patch(owner: Any, name: str, make: Callable[[Any], Any], at_rest: Callable[[Any], Any] | None = None) -> Any:
    """Put `make(original)` in the place of an attribute; while the session rests, `at_rest(original)`. None where there is none."""
    if not hasattr(owner, name):
        where = f"{owner.__module__}.{owner.__qualname__}" if isinstance(owner, type) else owner.__name__
        versions.lack(f"{where}.{name}")
        return None
    made = _Patch(owner, name, make, at_rest)
    _patches.append(made)
    undo.append(lambda: (made.put(made.original), _patches.remove(made), _met.clear()))
    if at_rest is not None:
        _quiet.append(made)
        undo.append(lambda: _quiet.remove(made))
    return made


def stands(owner: Any, name: str) -> bool:
    """Is this attribute ours?"""
    return any(made.owner is owner and made.name == name and vars(owner)[name] is made.now for made in _patches)


def original(owner: Any, name: str) -> Any:
    """An attribute as it is without us; None if there is none."""
    return next(
        (made.original for made in _patches if made.owner is owner and made.name == name), vars(owner).get(name)
    )


def itself(original: Any) -> Any:
    """At rest what was there before stands in its place."""
    return original


def rest(on: bool) -> None:
    """The session rests, or no longer."""
    global resting
    resting = on
    for made in _quiet:
        if _shown or made not in _met:
            made.put(made.quiet if on else made.new)


# What Dynamo reads, and what a function that it has compiled is compared with before it is used again. Passes, steps and
# checkpoints are no part of that: they are called.
_CALLED = (
    "_engine_run_backward",
    "_make_grads",
    "_allowed_determinism_checks_to_fns",
    "compile",
    "_maybe_opt_step",
    "save",
)
_CALLED += ("apply",)  # of a Function, which Dynamo knows by that name


_met: list[_Patch] = []
_shown = True  # do they stand in their places?


def met(codes: set[Any]) -> None:
    """Dynamo has read this code. What it made of it is used only as long as everything there is the same."""
    for made in _patches:
        code = getattr(getattr(made.original, "__func__", made.original), "__code__", None)
        if code in codes and made.is_read and made.now is not made.original and made not in _met:
            _met.append(made)


def has_met() -> bool:
    """Has Dynamo met anything of ours?"""
    return bool(_met)


def show_met(on: bool) -> None:
    """Put back what Dynamo has met so far; or take its place again."""
    global _shown
    _shown = on
    for made in _met:
        made.put(made.original if not on else made.quiet if resting else made.new)


@contextlib.contextmanager
def as_it_was(whole: bool = False) -> Iterator[None]:
    """PyTorch as it is without us, in what Dynamo reads of it or as a whole."""
    stood = [(made, made.now) for made in _patches if (whole or made.is_read) and made.now is not made.original]
    for made, _ in stood:
        made.put(made.original)
    try:
        yield
    finally:
        for made, now in stood:
            made.put(now)


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

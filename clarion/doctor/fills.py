"""Leaves that a pass does not reach, and that have a gradient all the same.

NOTE [Fills]: what was compiled gives zeros to each of its inputs that has no part in what the pass came from: it is one node, with one
list of gradients. As it is written the program would leave those leaves without a gradient, and its optimizers would leave them
alone. So nobody is told of such a gradient, nor that optimizers write to these leaves (weight decay does).
"""

from __future__ import annotations

import weakref
from typing import Any

_filled: dict[int, tuple[weakref.ref[Any], int]] = {}  # by id; how often optimizers have written to it
_before: dict[int, int] = {}  # how often anybody had, when the step began that is under way


def forget() -> None:
    """A new session begins."""
    _filled.clear()


def has(leaf: Any) -> bool:
    """Is the gradient of a leaf nothing but such zeros?"""
    return id(leaf) in _filled


def note(leaf: Any, filled: bool) -> None:
    """It is, or it is not."""
    key = id(leaf)
    if filled and key not in _filled:
        _filled[key] = weakref.ref(leaf, lambda _: _filled.pop(key, None)), 0
    elif not filled:
        _filled.pop(key, None)


def writes(leaf: Any) -> int:
    """How often optimizers have written to it for no other reason."""
    return _filled[id(leaf)][1] if id(leaf) in _filled else 0


def step_began() -> None:
    """An optimizer is about to step."""
    _before.clear()
    for key, (reference, _) in _filled.items():
        leaf = reference()
        if leaf is not None:
            _before[key] = leaf._version


def stepped() -> None:
    """It has."""
    for key, version in _before.items():
        reference, count = _filled.get(key, (lambda: None, 0))
        leaf = reference()
        if leaf is not None:
            _filled[key] = reference, count + leaf._version - version  # type: ignore[assignment]
    _before.clear()

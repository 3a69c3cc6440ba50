"""`float`, `int`, `round` and `print` while a call is recorded: they know values that were read (numbers.py), and are Python's own otherwise.

They stand in the modules of the user's functions for the time of the recording, where the code does nothing but call them.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from ..bytecode import instructions
from ..core.tensor import Tensor
from . import outward
from .arrays import Recorded, recording
from .numbers import is_read, of, plain, text_of


class _Kind(type):
    """Python's own class in all that is asked of it."""

    own: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.own)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(kind, cls.own)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.own, name)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _converted(cls.own, args, kwargs)


class Float(metaclass=_Kind):
    """`float`."""

    own = float


class Int(metaclass=_Kind):
    """`int`."""

    own = int


def rounded(*args: Any, **kwargs: Any) -> Any:
    """`round`."""
    return _converted(round, args, kwargs)


def _converted(function: Any, args: Any, kwargs: Any) -> Any:
    now = recording()
    value = args[0] if args else None
    if now is None or kwargs or any(is_read(each) for each in args[1:]):
        return function(*args, **kwargs)
    if isinstance(value, Tensor) and type(value._array) is Recorded and value._array.dtype.kind in "fiu":
        if function is round or value._array.size != 1:
            return function(*args)
        if value._rg:
            from ..ops.creation.from_data import warn_left

            warn_left(value)
        value = value.item()
    if not is_read(value):
        return function(value, *args[1:])
    made = function(plain(value), *args[1:])
    if type(made) is int and not outward.only_leaves(sys._getframe(2)):
        return function(value, *args[1:])  # asks for the value
    return of(made, now, function=function, args=(value, *args[1:]))


def printed(*args: Any, **kwargs: Any) -> None:
    """`print`."""
    now = recording()
    if now is not None:
        plain_too = all(is_read(each) or type(each) in (str, int, float, bool, type(None)) for each in args)
        if not plain_too or not all(name in ("sep", "end", "flush") for name in kwargs):
            now.refuse("print() is called, with more than numbers and texts")
        else:
            given = [text_of(each, now) or each if type(each) is str else each for each in args]
            now.printed.append((given, kwargs))
    builtins.print(*map(plain, args), **kwargs)


STAND_INS = {"float": Float, "int": Int, "round": rounded, "print": printed}


def _only_called(name: str, codes: Iterable[CodeType]) -> bool:
    found = False
    for code in codes:
        if name in code.co_names:
            for at in instructions(code):
                if at.opname.startswith(("LOAD_GLOBAL", "LOAD_NAME")) and at.argval == name:
                    if at.opname != "LOAD_GLOBAL" or at.arg is None or not at.arg & 1:
                        return False
                    found = True
    return found


@contextmanager
def standing_in(codes: dict[CodeType, dict[str, Any]]) -> Iterator[None]:
    """They stand in the modules of these codes."""
    placed: list[tuple[dict[str, Any], str]] = []
    for space in {id(space): space for space in codes.values()}.values():
        here = [code for code, where in codes.items() if where is space]
        for name, stand_in in STAND_INS.items():
            if name not in space and _only_called(name, here):
                space[name] = stand_in
                placed.append((space, name))
    try:
        yield
    finally:
        for space, name in placed:
            if space.get(name) is STAND_INS[name]:
                del space[name]

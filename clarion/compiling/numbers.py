"""Values that a function reads (`loss.item()`): legal where nothing is computed from them that the recording would have to know.

While a call is recorded `item()` gives a `Number`: a float that tells what is done with it. Arithmetic with plain numbers gives another
Number, which a replay computes, too. It may be returned, printed, or appended to a list that the function only appends to
(`history.append(loss.item())`): a replay does the same with the number of its own. Whoever asks for its value (a condition, a function of
C's, an operation on tensors) ends the recording, and gets it.

Whole numbers, lists, arrays and texts are read where the lines around them say that they only leave (outward.py); their classes are there to be
found again.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import outward

Write = Callable[[Any], str]  # gives a constant as text
Place = Callable[[int, str], str]  # gives what is read from a slot, in this way, as text


class Read:
    """What was read: `slot` of its array, or the `function` of other values that gives it."""

    slot: int
    function: Any
    args: tuple[Any, ...]
    _recording: Any
    reading = "{}"  # how a replay reads it from its array

    def slots(self) -> list[int]:
        """The arrays that it is computed from."""
        if self.slot >= 0:
            return [self.slot]
        return [slot for each in self.args if is_read(each) for slot in each.slots()]

    def text(self, place: Place, constant: Write) -> str:
        """The value of a replay, in Python."""
        if self.slot >= 0:
            return place(self.slot, self.reading)
        given = [each.text(place, constant) if is_read(each) else constant(each) for each in self.args]
        return f"{constant(self.function)}({', '.join(given)})"

    def form(self) -> Any:
        """What two recordings must agree in."""
        if self.slot >= 0:
            return type(self), self.slot
        return type(self), self.function, [each.form() if is_read(each) else each for each in self.args]

    def kept(self, recording: Any, slot: int = -1, function: Any = None, args: tuple[Any, ...] = ()) -> Any:
        """Itself, with where it came from."""
        self._recording, self.slot, self.function, self.args = recording, slot, function, args
        recording.numbers.append(self)
        return self


class Number(Read, float):
    """A number with a fraction."""

    reading = "{}.item()"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return float, (_asked(self),)


class Whole(Read, int):
    """A whole number."""

    reading = "{}.item()"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return int, (_asked(self),)


class Listed(Read, list[Any]):
    """All elements, as nested lists."""

    reading = "{}.tolist()"


class Exported(Read, np.ndarray):
    """A NumPy array of a tensor that nobody else has."""

    def __array_finalize__(self, origin: Any) -> None:
        if type(origin) is Exported and origin.shape == self.shape and hasattr(origin, "slot"):
            self.kept(origin._recording, origin.slot)


def is_read(value: Any) -> bool:
    """Is a value one that was read?"""
    return type(value) in _PLAIN


# Class -> the value as a plain one.
_PLAIN: dict[type, Callable[[Any], Any]] = {
    Number: float.__float__,
    Whole: int.__int__,
    Listed: list,
    Exported: lambda array: array.view(np.ndarray),
}


def plain(value: Any) -> Any:
    """A value that was read as a plain one."""
    kind = type(value)
    return _PLAIN[kind](value) if kind in _PLAIN else value


def of(value: Any, recording: Any, slot: int = -1, function: Any = None, args: tuple[Any, ...] = ()) -> Any:
    """A number of Python's as one that was read."""
    if type(value) is float:
        return Number(value).kept(recording, slot, function, args)
    return Whole(value).kept(recording, slot, function, args)


def _asked(number: Any) -> Any:
    """The value itself: somebody wants to know it."""
    recording = number._recording
    if recording.open:
        recording.refuse("a number that was read is used")
    return plain(number)


# Arithmetic --------------------------------------------------------------------------------------------------


def _computed(name: str) -> tuple[Any, Any]:
    function = getattr(operator, name)

    def forward(self: Any, other: Any = None) -> Any:
        if type(other) in (float, int) or is_read(other):
            return of(function(plain(self), plain(other)), self._recording, function=function, args=(self, other))
        return getattr(_asked(self), f"__{name}__")(other)

    def backward(self: Any, other: Any) -> Any:
        if type(other) in (float, int):
            return of(function(other, plain(self)), self._recording, function=function, args=(other, self))
        return getattr(_asked(self), f"__r{name}__")(other)

    return forward, backward


for _name in ("add", "sub", "mul", "truediv"):
    _forward, _backward = _computed(_name)
    for _kind in (Number, Whole):
        setattr(_kind, f"__{_name}__", _forward)
        setattr(_kind, f"__r{_name}__", _backward)


def _revealing(kind: Any, name: str) -> Any:
    function = getattr(kind, name)
    return lambda self, *args: function(_asked(self), *map(plain, args))


for _name in """__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __hash__ __float__ __int__ __trunc__ __floor__ __ceil__ __round__ __abs__ __neg__
__pos__ __pow__ __rpow__ __mod__ __rmod__ __floordiv__ __rfloordiv__ __divmod__ __rdivmod__ __repr__ __str__
__index__ __invert__ __and__ __or__ __xor__ __rand__ __ror__ __rxor__ __lshift__ __rshift__ __rlshift__ __rrshift__
is_integer as_integer_ratio hex conjugate bit_length bit_count to_bytes""".split():  # noqa: SIM905
    for _kind, _base in ((Number, float), (Whole, int)):
        if hasattr(_base, _name):
            setattr(_kind, _name, _revealing(_base, _name))
for _kind in (Number, Whole):
    for _name in ("real", "imag"):
        setattr(_kind, _name, property(lambda self, name=_name: getattr(_asked(self), name)))
    _kind.__array_ufunc__ = lambda self, ufunc, method, *given, **options: getattr(ufunc, method)(
        *[_asked(each) if is_read(each) else each for each in given], **options
    )
    _kind.__array__ = lambda self, dtype=None, copy=None: np.array(_asked(self), dtype)


# Texts -------------------------------------------------------------------------------------------------------


class Text(Read):
    """A text that numbers were written into: `parts` are texts, and numbers with their format."""

    def __init__(self, parts: list[Any], recording: Any) -> None:
        self.parts = parts
        self.kept(recording, args=tuple([part[0] for part in parts if type(part) is tuple]))

    def text(self, place: Place, constant: Write) -> str:
        """The text of a replay, in Python."""
        parts = [
            constant(part) if type(part) is str else f"format({part[0].text(place, constant)}, {part[1]!r})"
            for part in self.parts
        ]
        return f"''.join(({', '.join(parts)},))"

    def form(self) -> Any:
        """What two recordings must agree in."""
        return [part if type(part) is str else (part[0].form(), part[1]) for part in self.parts]


_PLAIN[Text] = lambda text: text


def _format(self: Any, spec: str) -> str:
    """A number in a text: `f"{loss.item():.3f}"`. The text is known again where it leaves."""
    recording = self._recording
    frame = outward.users_frame(sys._getframe(1))
    node = outward.joined(frame) if recording.open and frame is not None else None
    if node is None or not _noted(recording, frame, node, self, spec):
        return format(_asked(self), spec)
    return format(plain(self), spec)


for _kind in (Number, Whole):
    _kind.__format__ = _format  # type: ignore[assignment]


def _noted(recording: Any, frame: Any, node: ast.JoinedStr, number: Any, spec: str) -> bool:
    """Note a number of a text; with the last one the text is known. False where the text has parts that may be anything."""
    parts = [_part(each, frame) for each in node.values]
    wanted = parts.count(None)
    key = (id(frame), id(node))
    found = recording.joining.setdefault(key, [])
    found.append((number, spec))
    if ... in parts or len(found) > wanted:
        return False
    if len(found) == wanted:
        del recording.joining[key]
        numbers = iter(found)
        whole = Text([next(numbers) if part is None else part for part in parts], recording)
        written = "".join([part if type(part) is str else format(plain(part[0]), part[1]) for part in whole.parts])
        recording.texts.setdefault(written, []).append(whole)
    return True


def _part(each: Any, frame: Any) -> Any:
    """A part of a text: what stands there; None for a number that is to come; ... for what may be anything."""
    if isinstance(each, ast.Constant):
        return each.value
    spec = each.format_spec
    if each.conversion != -1 or (spec is not None and not all(isinstance(one, ast.Constant) for one in spec.values)):
        return ...
    if not isinstance(each.value, ast.Name):
        return None
    name = each.value.id
    value = frame.f_locals[name] if name in frame.f_locals else frame.f_globals.get(name, ...)
    if type(value) in (int, float, str, bool, type(None)):
        return format(value, "" if spec is None else spec.values[0].value)
    return None if is_read(value) or hasattr(value, "_array") else ...


def text_of(value: str, recording: Any) -> Text | None:
    """The text with numbers that a string is, if it is one; `refuse` where that cannot be known."""
    found = recording.texts.get(value)
    if found is not None:
        if any(each.form() != found[0].form() for each in found):
            recording.refuse("two texts that it makes look the same")
        return found[0]  # type: ignore[no-any-return]
    if recording.numbers and (any(c.isdigit() for c in value) or "nan" in value or "inf" in value):
        recording.refuse("it gives a text, which may tell a number that was read")
    return None

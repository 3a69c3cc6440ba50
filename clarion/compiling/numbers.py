"""Numbers that a function reads (`loss.item()`): legal where nothing is computed from them that the recording would have to know.

While a call is recorded `item()` gives a `Number`: a float that tells what is done with it. Arithmetic with plain numbers gives another
Number, which a replay computes, too. It may be returned, or appended to a list that the function only appends to (`history.append(loss.item())`):
a replay does the same with the number of its own. Whoever asks for its value (a condition, a function of C's, an operation on tensors)
ends the recording, and gets it.
"""

from __future__ import annotations

import dis
import gc
import operator
from collections.abc import Callable, Iterable
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..pytree import tree_map

_PLAIN = (float, int)


class Number(float):
    """A number that was read: `slot` of its array, or the `function` of other numbers that gives it."""

    slot: int
    function: Any
    args: tuple[Any, ...]
    _recording: Any

    def __new__(cls, value: float, recording: Any, slot: int = -1, function: Any = None, args: Any = ()) -> Number:
        made = super().__new__(cls, value)
        made._recording, made.slot, made.function, made.args = recording, slot, function, args
        recording.numbers.append(made)
        return made

    def slots(self) -> list[int]:
        """The arrays that it is computed from."""
        if self.slot >= 0:
            return [self.slot]
        return [slot for each in self.args if type(each) is Number for slot in each.slots()]

    def text(self, read: Callable[[int], str], constant: Callable[[Any], str]) -> str:
        """The number of a replay, in Python."""
        if self.slot >= 0:
            return read(self.slot)
        given = [each.text(read, constant) if type(each) is Number else constant(each) for each in self.args]
        return f"{constant(self.function)}({', '.join(given)})"

    def form(self) -> Any:
        """What two recordings must agree in."""
        if self.slot >= 0:
            return self.slot
        return self.function, [each.form() if type(each) is Number else each for each in self.args]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return float, (_asked(self),)


def _asked(number: Number) -> float:
    """The value itself: somebody wants to know it."""
    recording = number._recording
    if recording.open:
        recording.refuse("a number that was read is used")
    return float.__float__(number)


def plain(value: Any) -> Any:
    """A number as a plain one."""
    return float.__float__(value) if type(value) is Number else value


def _computed(name: str) -> tuple[Any, Any]:
    function = getattr(operator, name)

    def forward(self: Number, other: Any = None) -> Any:
        if type(other) in _PLAIN or type(other) is Number:
            return Number(function(plain(self), plain(other)), self._recording, function=function, args=(self, other))
        return getattr(_asked(self), f"__{name}__")(other)

    def backward(self: Number, other: Any) -> Any:
        if type(other) in _PLAIN:
            return Number(function(other, plain(self)), self._recording, function=function, args=(other, self))
        return getattr(_asked(self), f"__r{name}__")(other)

    return forward, backward


for _name in ("add", "sub", "mul", "truediv"):
    _forward, _backward = _computed(_name)
    setattr(Number, f"__{_name}__", _forward)
    setattr(Number, f"__r{_name}__", _backward)


def _revealing(name: str) -> Any:
    function = getattr(float, name)
    return lambda self, *args: function(_asked(self), *map(plain, args))


for _name in """__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __hash__ __float__ __int__ __trunc__ __floor__ __ceil__ __round__ __abs__ __neg__
__pos__ __pow__ __rpow__ __mod__ __rmod__ __floordiv__ __rfloordiv__ __divmod__ __rdivmod__ __repr__ __str__ __format__
is_integer as_integer_ratio hex conjugate""".split():  # noqa: SIM905
    if hasattr(float, _name):
        setattr(Number, _name, _revealing(_name))
for _name in ("real", "imag"):
    setattr(Number, _name, property(lambda self, name=_name: getattr(_asked(self), name)))
Number.__array_ufunc__ = lambda self, ufunc, method, *given, **options: getattr(ufunc, method)(  # type: ignore[attr-defined]
    *[_asked(each) if type(each) is Number else each for each in given], **options
)
Number.__array__ = lambda self, dtype=None, copy=None: np.array(_asked(self), dtype)  # type: ignore[attr-defined]


# Lists -------------------------------------------------------------------------------------------------------


class Appended:
    """A list that the function only appends to: what stands in it does not count, what is new in it is an effect of the call."""

    def __init__(self, target: list[Any]) -> None:
        self.target, self.before = target, list(target)

    def new(self) -> list[Any] | None:
        """What was appended; None if anything else was done to it."""
        n = len(self.before)
        if len(self.target) < n or not all(map(operator.is_, self.before, self.target)):
            return None
        return self.target[n:]

    def settle(self) -> None:
        """Plain numbers for those that were read."""
        n = len(self.before)
        self.target[n:] = [tree_map(plain, each) for each in self.target[n:]]


def only_appended_to(name: str, codes: Iterable[CodeType]) -> bool:
    """Is a variable or an attribute of this name used for nothing but `name.append(…)`?"""
    found = False
    for code in codes:
        if "__dict__" in code.co_names:
            return False
        before = None
        for at in dis.get_instructions(code):
            if before is not None and not (at.opname in ("LOAD_METHOD", "LOAD_ATTR") and at.argval == "append"):
                return False
            before = None
            if at.argval == name and at.opname not in ("COPY_FREE_VARS", "MAKE_CELL"):
                if not at.opname.startswith("LOAD_") or at.opname in ("LOAD_CONST", "LOAD_CLOSURE"):
                    return False
                before, found = at, True
    return found


def kept_elsewhere(recording: Any, results: list[Any]) -> bool:
    """Has somebody kept a number that was read? (Known to hold them are `results`, and numbers made of them.) Containers get plain ones."""
    numbers = recording.numbers
    known = {
        id(numbers),
        *map(id, results),
        *[id(each.args) for each in numbers],
        *[id(vars(each)) for each in numbers],
    }
    found = False
    for holder in gc.get_referrers(*numbers):
        if id(holder) in known or isinstance(holder, FrameType):
            continue
        found = True
        if type(holder) is list:
            holder[:] = map(plain, holder)
        elif type(holder) is dict:
            holder.update({name: plain(each) for name, each in holder.items() if type(each) is Number})
    return found

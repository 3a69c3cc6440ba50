"""Lists that a function only appends to: what stands in them does not count, what is new in them is an effect of the call."""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

from ..bytecode import instructions
from ..pytree import tree_map
from .numbers import Text, is_read, plain


class Appended:
    """One of them."""

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
        for at in instructions(code):
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
        *[id(each) for each in recording.texts.values()],
        *[id(given) for given, _ in recording.printed],
        *[id(part) for each in numbers if type(each) is Text for part in each.parts],
    }
    found = False
    mark = object()  # (some versions of Python find the arguments of this very call)
    for holder in gc.get_referrers(mark, *numbers):
        if id(holder) in known or isinstance(holder, FrameType):
            continue
        if type(holder) is tuple and holder and holder[0] is mark:
            continue
        found = True
        if type(holder) is list:
            holder[:] = map(plain, holder)
        elif type(holder) is dict:
            holder.update({name: plain(each) for name, each in holder.items() if is_read(each)})
    return found

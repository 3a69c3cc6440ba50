"""Who switched recording off: per thread, what `no_grad()`, `set_grad_enabled(False)` and their like have done, in order.

NOTE [Leaks]: a mode is left open if the frame that it was entered for has ended (or is suspended: a generator), and the
mode has not. Frames cannot be referenced weakly, and holding one would keep its variables alive; so a switch knows its
frame by address and code, and is looked for in the chain of callers. Frames that enter a mode for somebody else (a method
`__enter__`, a `@contextmanager`) are passed over: the block belongs to the `with` that called them.
"""

from __future__ import annotations

import contextlib
import dis
import linecache
import re
import sys
import threading
import weakref
from typing import Any

from ..core import modes, provenance
from ..core.node import sequence
from .places import Place, Where, source

_WITH = {dis.opmap[name] for name in ("BEFORE_WITH", "BEFORE_ASYNC_WITH") if name in dis.opmap}
_ENTERING = ("__enter__", "__aenter__")
_CONTEXTLIB = contextlib.__file__
_MODE_NAMES = re.compile(r"\b(no_grad|inference_mode|set_grad_enabled|enable_grad)\b")


def _user_frame() -> tuple[Any, bool]:
    """The user's frame that entered a mode; did clarion enter it on the way, for something of its own?"""
    frame: Any = sys._getframe(3)
    own = passed = False
    inside = provenance.inside
    while frame.f_back is not None:
        file = frame.f_code.co_filename
        if not (inside[file] if file in inside else provenance.is_inside(file)):
            break
        if file == modes.__file__:
            passed = True
        elif passed and file != _CONTEXTLIB:
            own = True
        frame = frame.f_back
    return frame, own


class Switch:
    """One mode that was entered: does it record, which line entered it, for which frame, and after how many backwards."""

    __slots__ = (
        "code",
        "decorates",
        "frame",
        "mode",
        "name",
        "own",
        "passes",
        "phase_over",
        "place",
        "recorded_from",
        "recording",
    )

    def __init__(self, mode: Any, passes: int) -> None:
        self.mode = weakref.ref(mode)
        self.name = type(mode).__name__
        self.recording = modes.recording()
        self.passes = passes
        self.phase_over = False  # train() was called since
        self.decorates = mode.decorates
        self.recorded_from = repr(sequence) if self.recording else ""  # the next number of a node
        frame, self.own = _user_frame()
        self.place: Place = (frame.f_code, frame.f_lasti)
        while frame.f_back is not None and (
            frame.f_code.co_name in _ENTERING
            or frame.f_code.co_filename == _CONTEXTLIB
            or frame.f_back.f_code.co_filename == _CONTEXTLIB
        ):
            frame = frame.f_back
        self.frame, self.code = id(frame), frame.f_code

    @property
    def where(self) -> Where:
        """The line that switched: the `with`, the call, or the decorator."""
        return self.place if self.decorates is None else _decorator_line(self.decorates, self.place)

    def is_block(self) -> bool:
        """Does it end by itself: a `with` statement or a decorator?"""
        code, lasti = self.place
        if self.decorates is not None or self.own or code is not self.code:  # the last: entered for a `with` further up
            return True
        return code.co_code[lasti] in _WITH or source(self.place).startswith(("with ", "async with "))

    def is_orphan(self) -> bool:
        """Has the frame ended that it was entered for? NOTE [Leaks]."""
        if self.decorates is not None or self.own:
            return False
        frame: Any = sys._getframe(1)
        while frame is not None:
            if id(frame) == self.frame and frame.f_code is self.code:
                return False
            frame = frame.f_back
        return True

    def is_leaked(self, passes: int) -> bool:
        """Is it left open, now that somebody wants to train? (`passes`: backward passes so far.)"""
        if self.is_orphan():
            return True
        return not self.is_block() and (self.phase_over or self.passes > 0)

    def __str__(self) -> str:
        return f"set_grad_enabled({self.recording})" if self.name == "set_grad_enabled" else f"{self.name}()"


def _decorator_line(function: Any, otherwise: Place) -> Where:
    """The line of the decorator above a function: the code of a function begins at its first one."""
    code = getattr(function, "__code__", None)
    if code is None:
        return otherwise
    first: int = code.co_firstlineno
    for line in range(first, first + 20):
        text = linecache.getline(code.co_filename, line).strip()
        if text.startswith("@") and _MODE_NAMES.search(text):
            return code.co_filename, line
        if text.startswith(("def ", "async def ", "class ")):
            break
    return code.co_filename, first


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[Switch] = []
        self.ended: Switch | None = None  # the last one that was left, and had recording off
        self.ended_pass = 0  # backward passes before that


class Switches:
    """The switches of all threads."""

    def __init__(self) -> None:
        self._thread = _Thread()
        self._blocks: dict[tuple[int, int], tuple[Any, bool]] = {}  # (code, instruction) -> the code, is it a block?

    def may_stay(self, switch: Switch) -> bool:
        """Is it a switch that does not end by itself? Remembered for each place."""
        code, lasti = switch.place
        found = self._blocks.get((id(code), lasti))
        if found is None:
            found = self._blocks[id(code), lasti] = (code, switch.is_block())
        return not found[1]

    def entered(self, mode: Any, passes: int) -> Switch | None:
        """A mode was entered: the switch, or None if nothing is new (`set_grad_enabled` acts when it is made, and in `with`)."""
        stack = self._thread.stack
        if stack and stack[-1].mode() is mode:
            frame, _ = _user_frame()
            stack[-1].place = (frame.f_code, frame.f_lasti)
            return None
        while len(stack) > 1 and stack[-1].mode() is None and stack[-2].mode() is None:
            del stack[-2]  # a statement, whose object is gone, was replaced by the statement after it
        if len(stack) == 1 and stack[0].recording and stack[0].mode() is None:
            stack.clear()
        before = stack[-1].recording if stack else True
        if modes.recording() is before and (before or not modes.state.inference):
            return None  # it changes nothing: whoever switched before is to blame
        stack.append(Switch(mode, passes))
        return stack[-1]

    def left(self, mode: Any, passes: int) -> list[Switch]:
        """A mode was left: what was switched since it was entered is undone with it. These, the first one it itself."""
        thread = self._thread
        for i in range(len(thread.stack) - 1, -1, -1):
            if thread.stack[i].mode() is mode:
                gone = thread.stack[i:]
                del thread.stack[i:]
                if not gone[0].recording:
                    thread.ended, thread.ended_pass = gone[0], passes
                return gone
        return []

    @property
    def current(self) -> Switch | None:
        """The switch that keeps recording off in this thread, or None."""
        stack = self._thread.stack
        return stack[-1] if stack and not stack[-1].recording and not modes.recording() else None

    @property
    def stack(self) -> list[Switch]:
        """All that are open in this thread, the innermost last."""
        return self._thread.stack

    def ended_since(self, passes: int) -> Switch | None:
        """The last block without recording that ended after so many backward passes."""
        thread = self._thread
        return thread.ended if thread.ended_pass >= passes else None

"""Who switched recording off: per thread, what `no_grad()`, `set_grad_enabled(False)` and their like have done, in order.

NOTE [Leaks]: a mode is left open if the frame that it was entered for has ended (or is suspended: a generator), and the
mode has not. Frames cannot be referenced weakly, and holding one would keep its variables alive; so a switch knows its
frame by address and code, and is looked for in the chain of callers. Frames that enter a mode for somebody else (a method
`__enter__`, a `@contextmanager`) are passed over: the block belongs to the `with` that called them, and ends with it.
"""

from __future__ import annotations

import contextlib
import dis
import inspect
import linecache
import re
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import engine
from ..source.installed import is_installed
from ..source.places import Place, Where, source

if TYPE_CHECKING:
    from .ledger import Ledger

_WITH = {dis.opmap[name] for name in ("BEFORE_WITH", "BEFORE_ASYNC_WITH") if name in dis.opmap}
_getframe, _ref, _new = sys._getframe, weakref.ref, object.__new__
_NEW = 2  # times that a block is listened to closely
_ENTERING, _LEAVING = ("__enter__", "__aenter__"), ("__exit__", "__aexit__")
_CONTEXTLIB = contextlib.__file__
_MODE_NAMES = r"\b(no_grad|inference_mode|set_grad_enabled|enable_grad)\b"


class Switch:
    """One mode that was entered: does it record, which line entered it, for which frame, and after how many backwards.

    own            clarion entered it, for something of its own
    phase_over     train() was called since
    told           it was never left, and that was said
    recorded_from  the next number of a node, where it switched recording on
    """

    own = phase_over = told = False
    recorded_from: Any = None

    def __init__(self, mode: Any, recording: bool, passes: int) -> None:
        self.mode = weakref.ref(mode)
        self.name = mode.__class__.__name__
        self.recording = recording
        self.passes = passes
        self.decorates = engine.decorates(mode)
        self.find_frame(_getframe(3))
        if recording:
            self.recorded_from = engine.count_nodes()

    def find_frame(self, frame: Any) -> None:
        """The user's line that enters the mode now, and the frame that it is entered for."""
        machinery = engine.mode_files
        while frame.f_code.co_filename not in machinery:
            frame = frame.f_back
        while (above := frame.f_back) is not None:
            file = above.f_code.co_filename
            if not engine.is_library(file):
                break
            self.own = self.own or (file != _CONTEXTLIB and file not in machinery)
            frame = above
        frame = above or frame
        code = frame.f_code
        self.place: Place = (code, frame.f_lasti)
        while (above := frame.f_back) is not None and (
            code.co_name in _ENTERING or code.co_filename == _CONTEXTLIB or above.f_code.co_filename == _CONTEXTLIB
        ):
            frame, code = above, above.f_code
        self.frame, self.code, self.entered = id(frame), code, frame.f_lasti

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

    def is_installed(self) -> bool:
        """Does an installed package do it, for something of its own?"""
        code = self.place[0] if self.decorates is None else getattr(inspect.unwrap(self.decorates), "__code__", None)
        return code is not None and is_installed(code.co_filename)

    def is_orphan(self) -> bool:
        """Has the frame ended that it was entered for? NOTE [Leaks]."""
        if self.decorates is not None or self.own:
            return False
        frame: Any = _getframe(1)
        below = ""
        while frame is not None:
            if id(frame) == self.frame and frame.f_code is self.code:
                return self.code is not self.place[0] and below not in _LEAVING and _has_left(frame, self.entered)
            frame, below = frame.f_back, frame.f_code.co_name
        return True

    def is_leaked(self, passes: int) -> bool:
        """Is it left open, now that somebody wants to train? (`passes`: backward passes so far.)"""
        if self.is_orphan():
            return True
        return not self.is_block() and (self.phase_over or self.passes > 0)

    def __str__(self) -> str:
        return f"set_grad_enabled({self.recording})" if self.name == "set_grad_enabled" else f"{self.name}()"


class _Again(Switch):
    """The switch of a block that was entered often: what is the same each time are attributes of its own class."""

    kind = code = entered = None  # (the first is the mode's)

    def __init__(self, mode: Any, passes: int, frame: int) -> None:
        self.mode, self.passes, self.frame = _ref(mode), passes, frame


def _has_left(frame: Any, entered: int) -> bool:
    """Is a frame beyond the `with` statement that begins at an instruction of it? The table of exceptions says what lies inside."""
    code = frame.f_code
    if code.co_code[entered] not in _WITH:
        return False
    table = sorted(dis._parse_exception_table(code), key=lambda entry: entry.start)  # type: ignore[attr-defined]
    handler = next((entry.target for entry in table if entry.start > entered), -1)
    at = frame.f_lasti
    for _ in table:  # what lies in a `try` inside of it has another handler, which lies inside
        at = next((entry.target for entry in table if entry.start <= at < entry.end), -1)
        if at == handler:
            return False
    return True


def _entering() -> Any:
    """The frame that enters a mode now: the first above the code that does it for others."""
    machinery = engine.mode_files
    frame: Any = _getframe(2)
    while frame.f_code.co_filename not in machinery:
        frame = frame.f_back
    while frame.f_code.co_filename in machinery:
        frame = frame.f_back
    return frame


def _decorator_line(function: Any, otherwise: Place) -> Where:
    """The line of the decorator above a function: the code of a function begins at its first one."""
    code = getattr(inspect.unwrap(function), "__code__", None)  # of the function itself, below other decorators
    if code is None:
        return otherwise
    first: int = code.co_firstlineno
    for line in range(first, first + 20):
        text = linecache.getline(code.co_filename, line).strip()
        if text.startswith("@") and re.search(_MODE_NAMES, text):
            return code.co_filename, line
        if text.startswith(("def ", "async def ", "class ")):
            break
    return code.co_filename, first


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[Switch] = []
        self.ended: Switch | None = None  # the last one that was left, and had recording off


class Switches:
    """The switches of all threads."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._thread = _Thread()
        self._entered: dict[tuple[int, int], int] = {}  # how often blocks were entered, while nobody listened closely
        self._usual: set[tuple[int, int]] = set()  # places of blocks that ended as they should
        self._blocks: dict[tuple[int, int], tuple[Any, bool]] = {}  # (code, instruction) -> the code, is it a block?
        self._again: dict[
            tuple[int, int], type[_Again]
        ] = {}  # blocks that were entered often: what is the same of their switches

    def switched(self, mode: Any, entered: bool) -> None:
        """A mode was entered or left. Kept short: a hand-written update does both in every step."""
        stack = self._thread.stack
        if not entered:
            if stack and stack[-1].mode() is mode:
                switch = self._thread.ended = stack.pop()
                if switch.decorates is None and not (self._is_to_be_heard(switch) or self._may_stay(switch)):
                    self._usual.add((id(switch.place[0]), switch.place[1]))
            elif stack:
                self._left(mode, stack)
            return
        if stack:
            if stack[-1].mode() is mode:  # `set_grad_enabled` acts when it is made, and once more in `with`
                stack[-1].find_frame(_getframe(1))
                return
            _tidy(stack)
        recording = engine.recording()
        before = stack[-1].recording if stack else True
        if recording is before and (before or not engine.inference()):
            return  # it changes nothing: whoever switched before is to blame
        frame = _entering()
        known = self._again.get((id(frame.f_code), frame.f_lasti))
        if known is not None and known.name == mode.__class__.__name__ and engine.decorates(mode) is None:
            stack.append(known(mode, self._ledger.passes, id(frame)))
            return
        switch = Switch(mode, recording, self._ledger.passes)
        stack.append(switch)
        session = self._ledger.session
        if not recording and not session.near and not switch.own:
            if self._may_stay(switch):
                if not session.resting or self._is_first_or_so(switch):
                    session.attend(5_000)  # is it switched back before training goes on?
            elif self._is_new(switch):
                session.attend(2_000)  # an evaluation, perhaps
            elif switch.decorates is None and switch.frame == id(frame):
                self._again[id(frame.f_code), frame.f_lasti] = type("Again", (_Again,), dict(switch.__dict__))

    def switched_at_rest(self, mode: Any, entered: bool) -> None:
        """The same while the session rests: blocks that were entered and left before do so again, and are passed over."""
        if entered:
            frame = _entering()
            if engine.decorates(mode) is None and (id(frame.f_code), frame.f_lasti) in self._usual:
                return
        elif not self._thread.stack:
            return
        self.switched(mode, entered)

    def shortly(self, proper: Callable[..., None]) -> Callable[..., None]:
        """The same in front of a handler: what is passed over does not come to it."""
        thread, usual, machinery, decorates = self._thread, self._usual, engine.mode_files, engine.decorates

        last: Any = None  # the block that was passed over last: mostly it is the same again
        at = -1

        def heard(mode: Any, entered: bool) -> None:
            nonlocal last, at
            if entered:
                frame: Any = _getframe(2)  # past what tells it: nearly always the line of the block
                code = frame.f_code
                if code is last and frame.f_lasti == at and decorates(mode) is None:
                    return
                while code.co_filename in machinery:
                    frame = frame.f_back
                    code = frame.f_code
                if (id(code), frame.f_lasti) in usual and decorates(mode) is None:
                    last, at = code, frame.f_lasti
                    return
            elif not thread.stack:
                return
            proper(mode, entered)

        return heard

    def again(self, proper: Callable[..., None]) -> Callable[..., None]:
        """In front of the handler of a session that is awake: the block of `no_grad()` that came last is noted in few words."""
        thread, blocks, ledger, decorates = self._thread, self._again, self._ledger, engine.decorates
        known: type[_Again] = _Again

        def heard(mode: Any, entered: bool) -> None:
            nonlocal known
            stack = thread.stack
            if not entered:
                if len(stack) == 1 and stack[0].__class__ is known and stack[0].mode() is mode:
                    thread.ended = stack.pop()
                    return
            elif not stack:
                frame: Any = _getframe(2)
                block = known
                if (
                    frame.f_code is block.code
                    and frame.f_lasti == block.entered
                    and mode.__class__ is block.kind
                    and decorates(mode) is None
                ):
                    switch = _new(block)  # (half of what a call of the class takes)
                    switch.mode, switch.passes, switch.frame = _ref(mode), ledger.passes, id(frame)
                    stack.append(switch)
                    return
                found = blocks.get((id(frame.f_code), frame.f_lasti))
                if found is not None and found.name == "no_grad":  # (others may switch recording on as well)
                    found.kind, known = mode.__class__, found
            proper(mode, entered)

        return heard

    def _left(self, mode: Any, stack: list[Switch]) -> None:
        """What was switched since a mode was entered is undone with it."""
        for i in range(len(stack) - 1, -1, -1):
            if stack[i].mode() is mode:
                undone = stack[i:]
                del stack[i:]
                self._thread.ended = undone[0]
                self._ledger.session.tell("at_undone", undone)
                return

    def _may_stay(self, switch: Switch) -> bool:
        """Is it a switch that does not end by itself? Remembered for each place."""
        code, lasti = switch.place
        found = self._blocks.get((id(code), lasti))
        if found is None:
            found = self._blocks[id(code), lasti] = (code, switch.is_block())
        return not found[1]

    def _is_to_be_heard(self, switch: Switch) -> bool:
        """Is it a block (of an evaluation, perhaps) that nobody has listened to as often as to others, when it comes at rest?"""
        code, lasti = switch.place
        known = self._blocks.get((id(code), lasti))
        return known is not None and known[1] and self._entered.get((id(code), lasti), 0) < _NEW

    def _count(self, switch: Switch) -> int:
        key = id(switch.place[0]), switch.place[1]
        times = self._entered[key] = self._entered.get(key, 0) + 1
        return times

    def _is_new(self, switch: Switch) -> bool:
        """Has this block been entered only once or twice?"""
        return self._count(switch) <= _NEW

    def _is_first_or_so(self, switch: Switch) -> bool:
        """Has this statement been run once, or twice as often as when it was listened to last?"""
        times = self._count(switch)
        return not times & (times - 1)

    @property
    def current(self) -> Switch | None:
        """The switch that keeps recording off in this thread, or None."""
        stack = self._thread.stack
        return stack[-1] if stack and not stack[-1].recording and not engine.recording() else None

    @property
    def stack(self) -> list[Switch]:
        """All that are open in this thread, the innermost last."""
        return self._thread.stack

    def ended_since(self, passes: int) -> Switch | None:
        """The program's last block without recording that was entered and left after so many backward passes."""
        ended = self._thread.ended
        if ended is None or ended.recording or ended.passes < passes or ended.is_installed():
            return None
        return ended


def _tidy(stack: list[Switch]) -> None:
    """Forget statements (their objects are gone) that were replaced by the statement after them."""
    while len(stack) > 1 and stack[-1].mode() is None and stack[-2].mode() is None:
        del stack[-2]
    if len(stack) == 1 and stack[0].recording and stack[0].mode() is None:
        stack.clear()

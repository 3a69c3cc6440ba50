"""The line of the user's program that made a node: always recorded, formatted only when reported.

A place is `(code object, last instruction)` of the innermost frame outside clarion. Taking it costs
0.1-0.3 µs; formatting a traceback costs a hundred times that, so it waits until somebody asks.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
import warnings
from types import CodeType, FrameType
from typing import Any

from .. import config

Place = tuple[CodeType, int]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CONTEXTLIB = contextlib.__file__
_getframe = sys._getframe


# File name -> is it part of clarion? Each file is judged once; a plain dict, for the hot path.
inside: dict[str, bool] = {}


def is_inside(filename: str) -> bool:
    """Is a file part of clarion? (`contextlib` counts: it enters the contexts of others.)"""
    if filename not in inside:
        inside[filename] = (
            filename.startswith((_PACKAGE, "<gradient of ", "<call of ", "<replay ")) or filename == _CONTEXTLIB
        )
    return inside[filename]


_user: Any = None  # the user's code that was met last: mostly it is the same again


def here(skipped: int = 1) -> Place | None:
    """The place of the innermost user frame. (The innermost `skipped` frames are known to be ours.)"""
    global _user
    if not config.PROVENANCE:
        return None
    frame: Any = _getframe(skipped)
    code = frame.f_code
    try:
        while code is not _user and inside[code.co_filename]:
            frame = frame.f_back
            code = frame.f_code
        _user = code
        return code, frame.f_lasti
    except (KeyError, AttributeError):  # a file met for the first time, or no user frame at all
        return _look(_getframe(1))


def _look(frame: FrameType | None) -> Place | None:
    """`here`, from a frame outwards, judging files that were not met before."""
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        if not (inside[filename] if filename in inside else is_inside(filename)):
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def mark(node: Any) -> None:
    """Write the place of the innermost user frame into a node: `node.place = here()`, as quickly as it goes."""
    global _user
    if not config.PROVENANCE:
        node.code = None
        return
    frame: Any = _getframe(2)
    code = frame.f_code
    try:
        while code is not _user and inside[code.co_filename]:
            frame = frame.f_back
            code = frame.f_code
        _user = node.code = code
        node.lasti = frame.f_lasti
    except (KeyError, AttributeError):  # a file met for the first time, or no user frame at all
        node.place = here()


def of_error(error: BaseException) -> Place | None:
    """The last line on the way to an error that is neither clarion's nor a library's; None where there is none."""
    found, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        name = code.co_filename  # (of compiled libraries: a file that is not there, as the cells of a notebook are not)
        if not is_inside(name) and "site-packages" not in name and not name.endswith(".pyx"):
            found = code, trace.tb_lasti
        trace = trace.tb_next
    return found


def file_line(place: Place | None) -> tuple[str, int] | None:
    """`(file name, line number)` of a place."""
    if place is None:
        return None
    code, lasti = place
    best = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= lasti < end and line is not None:
            best = line
            break
    return code.co_filename, best


def text(place: Place | None) -> str:
    """`train.py:41, in train: loss = criterion(out, y)` for messages; says so where it is unknown."""
    found = file_line(place)
    if found is None or place is None:
        return "a line that was not recorded"
    filename, line = found
    shown = os.path.relpath(filename) if os.path.exists(filename) else filename
    if shown.startswith(".."):
        shown = filename
    source = linecache.getline(filename, line).strip()
    function = place[0].co_name
    where = f"{shown}:{line}" + (f", in {function}" if function != "<module>" else "")
    return f"{where}: {source}" if source else where


def warn_user(text: str) -> None:
    """A UserWarning that points at the line of the user's program."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("clarion."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)

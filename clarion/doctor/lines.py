"""Lines of the user's program: which file is a library's, and which line of the user's is running."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import sysconfig
from types import CodeType
from typing import Any

Place = tuple[CodeType, int]

_CLARION = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CONTEXTLIB = contextlib.__file__
# The interpreter's own library; what is installed in it is known by the name of the folder.
_STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_getframe = sys._getframe

_engine: list[str] = []  # the folders of PyTorch and of clarion: never the user's
_known: dict[str, bool] = {}  # file -> is it a library's?


def begin(torch_folder: str) -> None:
    """PyTorch lies there."""
    _engine[:] = [torch_folder + os.sep, _CLARION]
    parts = ("optim", "amp", "nn/utils/clip_grad", "_tensor_str", "_utils", "storage", "serialization", "distributed")
    _own[:] = [os.path.join(torch_folder, *part.split("/")) for part in parts]
    _known.clear()


def _is_engine(file: str) -> bool:
    return file.startswith(tuple(_engine)) or file == _CONTEXTLIB


def is_library(file: str) -> bool:
    """Is a file part of PyTorch, of clarion, of Python's library or of a package that is installed, wherever?"""
    found = _known.get(file)
    if found is None:
        installed = any(part in file for part in _INSTALLED) or _is_recorded(file)
        found = _is_engine(file) or installed or file.startswith((*_STANDARD, "<frozen ", "<eval_with_key>", "<torch"))
        _known[file] = found
    return found


def _is_recorded(file: str) -> bool:
    """Was it installed into a folder of another name (`pip install --target`)? Then a RECORD beside it lists it."""
    folders = [entry for entry in sys.path if entry and file.startswith(entry.rstrip(os.sep) + os.sep)]
    if not folders:
        return False
    folder = max(folders, key=len).rstrip(os.sep)
    return file[len(folder) + 1 :].split(os.sep)[0] in _recorded_in(folder)


@functools.cache
def _recorded_in(folder: str) -> frozenset[str]:
    """The names at the top of a folder that packages have installed there."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(".dist-info"):
                with (
                    contextlib.suppress(OSError),
                    open(os.path.join(folder, name, "RECORD"), encoding="utf-8") as record,
                ):
                    found.update(line.split(",")[0].split("/")[0] for line in record)
    return frozenset(found)


def here() -> Place | None:
    """The place of the innermost user frame; in a program that is itself installed, the innermost outside of PyTorch."""
    frame: Any = _getframe(1)
    inner = frame
    try:
        while _known[frame.f_code.co_filename]:
            frame = frame.f_back
        return frame.f_code, frame.f_lasti
    except (KeyError, AttributeError):  # a file met for the first time, or no user frame at all
        return _look(inner)


def _look(frame: Any) -> Place | None:
    outside = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library(file):
            return frame.f_code, frame.f_lasti
        if outside is None and not _is_engine(file) and not file.startswith((*_STANDARD, "<frozen ")):
            outside = frame.f_code, frame.f_lasti
        frame = frame.f_back
    return outside


def is_users_call(depth: int) -> bool:
    """Is the frame so many calls up the user's?"""
    file = _getframe(depth).f_code.co_filename
    found = _known.get(file)
    return not (is_library(file) if found is None else found)


def is_engines_own(depth: int) -> bool:
    """Is the frame so many calls up a part of PyTorch that computes for itself: an optimizer, clipping, a GradScaler?"""
    return _getframe(depth).f_code.co_filename.startswith(tuple(_own))


_own: list[str] = []

"""Lines of the user's program: which file is a library's, and which line of the user's is running."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from types import CodeType
from typing import Any

from ..diagnose.source.installed import is_installed

Place = tuple[CodeType, int]

_CLARION = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CONTEXTLIB = contextlib.__file__
# The interpreter's own library; what is installed in it is known by the name of the folder.
_STANDARD = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")})
_getframe = sys._getframe

_engine: list[str] = []  # the folders of PyTorch and of clarion: never the user's
_known: dict[str, bool] = {}  # file -> is it a library's?
_outside: dict[str, bool] = {}  # file -> is it neither PyTorch's, nor ours, nor Python's?


def begin(torch_folder: str) -> None:
    """PyTorch lies there."""
    _engine[:] = [torch_folder + os.sep, _CLARION]
    parts = ("optim", "amp", "nn/utils/clip_grad", "_tensor_str", "_utils", "storage", "serialization", "distributed")
    _own[:] = [os.path.join(torch_folder, *part.split("/")) for part in parts]
    _known.clear()
    _outside.clear()
    _first.clear()


def _is_engine(file: str) -> bool:
    return file.startswith(tuple(_engine)) or file == _CONTEXTLIB


def is_library(file: str) -> bool:
    """Is a file part of PyTorch, of clarion, of Python's library or of a package that is installed, wherever?"""
    found = _known.get(file)
    if found is None:
        found = (
            _is_engine(file)
            or is_installed(file)
            or file.startswith((*_STANDARD, "<frozen ", "<eval_with_key>", "<torch"))
        )
        _known[file] = found
    return found


def here() -> Place | None:
    """The place of the innermost user frame; in a program that is itself installed, the innermost outside of PyTorch."""
    frame: Any = _getframe(1)
    inner = frame
    try:
        while _known[frame.f_code.co_filename]:
            frame = frame.f_back
        return (frame.f_code, frame.f_lasti) if generated is None else _place(frame)
    except (KeyError, AttributeError):  # a file met for the first time, or no user frame at all
        return _look(inner)


# Dynamo writes code for a function, and for what is left of it after each break, anew with every recompilation.
generated: Any = None  # what it has written
_first: dict[tuple[str, int, str], Place] = {}  # a line of such code -> the place where it was met first


def _place(frame: Any) -> Place:
    code = frame.f_code
    if generated is None or not (code.co_name.startswith(_RESUMED) or code in generated):
        return code, frame.f_lasti
    name = written_name(code)
    key = code.co_filename, frame.f_lineno, name
    if key not in _first:
        _first[key] = _hashable(code), frame.f_lasti
    return _first[key]


def _hashable(code: CodeType) -> CodeType:
    """Places are looked up in tables. Dynamo puts constants into its code that Python would not: dictionaries."""
    try:
        hash(code)
    except TypeError:
        return code.replace(co_consts=())
    return code


def written_name(code: CodeType) -> str:
    """The name of a function in the program, of which this may be a part that Dynamo has written."""
    name = code.co_name
    return name.removeprefix(_RESUMED).rpartition("_at_")[0] if name.startswith(_RESUMED) else name


_RESUMED = "torch_dynamo_resume_in_"


def _look(frame: Any) -> Place | None:
    outside = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_library(file):
            return _place(frame)
        if outside is None and not _is_engine(file) and not file.startswith((*_STANDARD, "<frozen ")):
            outside = frame.f_code, frame.f_lasti
        frame = frame.f_back
    return outside


def is_users_call(depth: int) -> bool:
    """Is the frame so many calls up the user's, or that of a library which does it for the user: anybody's but PyTorch's?"""
    return is_users_file(_getframe(depth).f_code.co_filename)


def is_users_file(file: str) -> bool:
    """Is a file anybody's but PyTorch's?"""
    found = _outside.get(file)
    if found is None:
        standard = file.startswith((*_STANDARD, "<frozen ", "<torch")) and not is_installed(file)
        found = _outside[file] = not (_is_engine(file) or standard)
    return found


def by_library() -> bool:
    """Is it a library that does this, between PyTorch and the user's line?"""
    frame: Any = _getframe(1)
    first: bool | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_engine(file) and not file.startswith("<"):
            if not is_library(file):
                return bool(first)
            first = True
        frame = frame.f_back
    return False  # a program that is itself installed


def is_engines_own(depth: int) -> bool:
    """Is the frame so many calls up a part of PyTorch that computes for itself: an optimizer, clipping, a GradScaler?"""
    return is_own(_getframe(depth).f_code.co_filename)


def is_own(file: str) -> bool:
    """Is a file such a part of PyTorch?"""
    return file.startswith(tuple(_own))


_own: list[str] = []

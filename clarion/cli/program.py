"""The user's program, run as Python would run it: as the module `__main__`, with its own arguments and folder."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from typing import Any

# Those who stand above the user's first line in a traceback: this package, and the import system.
_CALLERS = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    os.path.dirname(importlib.util.__file__) + os.sep,
    "<frozen importlib",
)
_main_before: list[types.ModuleType] = []  # kept alive: its code is still running


class Unreadable(Exception):
    """There is no program here; the text says why, on one line."""


def run_script(path: str, arguments: Sequence[str]) -> None:
    """What `python path arguments…` does."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror or error}") from None
    sys.argv[:] = [path, *arguments]
    _set_first_folder(os.path.dirname(os.path.realpath(path)))
    path = os.path.abspath(path)  # as in Python's own `__file__` and tracebacks
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    try:
        code = compile(source, path, "exec", dont_inherit=True)
    except ValueError as error:  # a null byte: it is no text
        raise Unreadable(f"cannot read {path}: {error}") from None
    _run(code, __file__=path, __loader__=loader, __package__=None, __spec__=None, __cached__=None)


def run_module(name: str, arguments: Sequence[str]) -> None:
    """What `python -m name arguments…` does."""
    sys.argv[:] = ["-m", *arguments]  # what Python shows while it looks for the module
    _set_first_folder(os.getcwd())
    spec = _find(name)
    if spec.submodule_search_locations is not None:
        spec = _find(f"{name}.__main__")
    code: Any = (
        spec.loader.get_code(spec.name) if isinstance(spec.loader, importlib.machinery.SourceFileLoader) else None
    )
    if code is None or spec.origin is None:
        raise Unreadable(f"cannot run {name}: it is not made of Python source")
    sys.argv[0] = spec.origin
    package = spec.parent
    _run(code, __file__=spec.origin, __loader__=spec.loader, __package__=package, __spec__=spec, __cached__=spec.cached)


def user_traceback(error: BaseException) -> types.TracebackType | None:
    """The traceback from the user's first line on, without those who called it."""
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_CALLERS):
            break
        trace = trace.tb_next
    return trace


def _find(name: str) -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise  # a package above it was found, and does not import
        spec = None
    except ValueError:  # a relative name
        spec = None
    if spec is None:
        raise Unreadable(f"no module named {name}")
    return spec


def _set_first_folder(folder: str) -> None:
    """Modules are looked for in the program's folder first, where Python had put that of the command."""
    if not sys.flags.safe_path:  # else Python put nothing there
        sys.path[0] = folder


def _run(code: types.CodeType, **names: Any) -> None:
    """The program is the real `__main__`: its classes can be pickled, and worker processes find it by its file."""
    _main_before.append(sys.modules["__main__"])
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__dict__.update(names)
    exec(code, main.__dict__)

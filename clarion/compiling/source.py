"""The Python code that a call runs: which of it is the user's, what it reads from outside, and what in it cannot be replayed.

A replay runs no Python, so everything that Python did must be the same each time. What the user's code reads (globals, closures,
attributes) `watching.py` looks at before each replay. What it does beside computing (prints, asks the clock, keeps count in an
attribute) is found here, while the call that is recorded runs: `sys.setprofile` tells every function that is called.
"""

from __future__ import annotations

import builtins
import functools
import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..bytecode import instructions
from ..core import overriding, provenance
from ..core.function import FunctionCtx
from ..core.tensor import Tensor
from ..kernels import mt19937
from ..kernels.mt19937 import Generator
from ..pytree import tree_leaves
from .numbers import Number, is_read
from .recording import draws

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_KERNELS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "kernels", "")
_VERSION = os.path.join(os.path.dirname(__file__), "version.py")  # calls the function
_NUMBERS = tuple(
    [os.path.join(os.path.dirname(__file__), f"{name}.py") for name in ("numbers", "stand_ins", "outward")]
)
_NUMPY = os.path.dirname(np.__file__) + os.sep
_ARRAYS = re.compile(
    r".*[/\\](site|dist)-packages[/\\](cupy|cupyx|cupy_backends|triton)[/\\]"
)  # what computes on a GPU
# Parts of Python's library that keep no state of their own.
_TRUSTED = frozenset(
    """functools abc enum typing types weakref _collections_abc dataclasses numbers operator copy contextlib copyreg reprlib
    collections/__init__ importlib/__init__ importlib/_bootstrap importlib/_bootstrap_external heapq bisect""".split()  # noqa: SIM905
)

_BUILTINS = frozenset(
    """abs all any bin bool callable chr divmod float format hasattr hex int isinstance issubclass iter len max min next oct
    ord pow repr reversed round sorted sum __build_class__ __import__""".split()  # noqa: SIM905
)
# Functions that may be given a number that was read, and do not look at it.
_LOOK_AT_NOTHING = frozenset(
    """append extend insert isinstance issubclass len hasattr callable iter next items keys values get update copy __init__ __new__
    __build_class__ __import__ super __enter__ __exit__""".split()  # noqa: SIM905
)
_PURE_MODULES = frozenset(
    ["math", "cmath", "_operator", "operator", "itertools", "_functools", "_collections", "_abc", "numpy"]
)
# Whoever calls these reads or sets where random numbers come from.
_CHANCE = {
    getattr(Generator, name).__code__: name
    for name in ("manual_seed", "seed", "initial_seed", "get_state", "set_state")
}
# The way to them from a public name: its own file, and what may stand around it.
_RANDOM = (
    os.path.join(os.path.dirname(os.path.dirname(__file__)), "ops", "random", ""),
    os.path.join(os.path.dirname(os.path.dirname(__file__)), "ops", "faces", ""),
    overriding.__file__,
    overriding.CALL,
    mt19937.__file__,
)
_PLAIN = (list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bool, range, type(None), slice)
_BUILDS = ("__init__", "__new__", "__post_init__", "__setstate__", "__set_name__")  # may write to what they build


@functools.cache
def _whose(filename: str) -> str:
    """Whose a file is: "ours" (clarion's, that of array libraries), "trusted", "library" (Python's), or the user's."""
    if filename.startswith("<frozen"):
        return "trusted" if filename.startswith("<frozen importlib") else "library"
    if provenance.is_inside(filename) or filename.startswith(_NUMPY) or _ARRAYS.match(filename):
        return "ours"
    if filename.startswith(_LIBRARY) and "site-packages" not in filename:
        return "trusted" if filename[len(_LIBRARY) : -len(".py")] in _TRUSTED else "library"
    return "user"


def is_users(filename: str) -> bool:
    """Is a file the user's, or a library's whose state nobody knows?"""
    return _whose(filename) in ("user", "library")


def is_written_by_user(kind: type) -> bool:
    """Is the code of a class the user's, so that the names of all attributes that it reads are known?"""
    for base in kind.__mro__:
        module = sys.modules.get(base.__module__)
        if base is not object and (is_ours(base) or not is_users(getattr(module, "__file__", None) or "<frozen")):
            return False
    return True


_MADE_BY_CLASS = 1 << 9  # the flag of classes that are not part of the interpreter


def is_ours(value: Any) -> bool:
    """Is a function or class clarion's own, Python's or NumPy's?

    Code that `exec` runs without a `__name__` has classes that say they are Python's: their flags know better.
    """
    module = getattr(value, "__module__", None) or ""
    if module == "builtins" and isinstance(value, type):
        return not value.__flags__ & _MADE_BY_CLASS
    return module.partition(".")[0] in (
        "clarion",
        "numpy",
        "math",
        "builtins",
        "typing",
        "operator",
        "functools",
        "itertools",
        "torch",
    )


class Ran:
    """The user's code that a call ran: code objects with their globals, and the first thing that cannot be replayed."""

    def __init__(self, recording: Any, replaced: tuple[str, ...] = ()) -> None:
        self.recording = recording
        self.replaced = replaced  # functions that others will stand in for (stand_ins.py)
        self.maybe: list[tuple[str, Any]] = []  # `self.count += 1`: of a tensor it changes no attribute
        self._contexts: dict[CodeType, str] = {}  # code of a custom Function -> its name for `ctx`
        self._apart: Any = None  # a frame that is heard no further: what runs beneath one that prints is the stream's
        self._collectors: set[Any] = set()  # code that the collector calls, also when a diagnosis makes it collect
        self.codes: dict[CodeType, dict[str, Any]] = {}

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear every call in this block."""
        if sys.getprofile() is not None:
            self.recording.refuse("a profiler is running")
            yield
            return
        collects = gc.isenabled()
        gc.disable()  # whoever listens to the collector is not part of the function
        self._collectors = {getattr(each, "__code__", None) for each in gc.callbacks}
        sys.setprofile(self._heard)
        try:
            yield
        finally:
            sys.setprofile(None)
            if collects:
                gc.enable()

    def _heard(self, frame: FrameType, event: str, argument: Any) -> None:
        if self._apart is not None:
            printed = argument is print and event != "c_call" and frame.f_code not in self._collectors
            if frame is self._apart and (printed or event == "return"):
                self._apart = None
        elif frame.f_code.co_name == "printed" and frame.f_code.co_filename in _NUMBERS:
            self._apart = frame if event == "call" else None
        elif event == "call" and frame.f_code in self._collectors:
            self._apart = frame
        elif event == "call":
            code = frame.f_code
            if code not in self.codes and _is_of_user(frame):
                self.codes[code] = frame.f_globals
                first = code.co_varnames[0] if code.co_argcount else ""
                if isinstance(frame.f_locals.get(first), FunctionCtx):
                    self._contexts[code] = first
            if code in _CHANCE:
                self._chance(frame, _CHANCE[code])
            if self.recording.numbers and _is_given_number(frame):
                self.recording.refuse("a number that was read is computed with", _here(frame.f_back))
        elif event == "c_call" and argument is print and "print" in self.replaced:
            self._apart = frame
        elif event == "c_call" and _is_of_user(frame):
            if self.recording.numbers and argument.__name__ not in _LOOK_AT_NOTHING:
                self.recording.refuse(f"a number that was read may be used by {argument.__name__}", _here(frame))
            if not _is_pure(argument) and argument.__name__ not in self.replaced:
                name = getattr(argument, "__qualname__", repr(argument))
                self.recording.refuse(f"{name}() is called, which may do something else each time", _here(frame))

    def _chance(self, frame: FrameType, name: str) -> None:
        """Somebody reads or sets the state of a generator of random numbers: a replay does not."""
        asks: Any = frame
        while asks is not None and asks.f_code.co_filename.startswith(_RANDOM):
            asks = asks.f_back
        by_user = asks is not None and not provenance.is_inside(asks.f_code.co_filename)
        if name == "set_state":  # back to where it is, with nothing drawn in between: checkpoints do so
            own, state = frame.f_locals["self"], frame.f_locals["state"]
            same = not any(map(draws, self.recording.steps)) and np.array_equal(own.get_state(), state)
        else:
            same = name in ("get_state", "initial_seed")
        if by_user or not same:
            self.recording.refuse(f"the state of a generator of random numbers is read or set ({name})")

    def judge(self) -> None:
        """Refuse what the code does beside computing."""
        inner = {each for code in self.codes for each in code.co_consts if isinstance(each, CodeType)}
        for code in self.codes:
            steps = list(instructions(code))
            for i, at in enumerate(steps):
                reason = _writes(code, at, code in inner)
                if reason and at.opname == "STORE_ATTR":
                    if self._is_context(code, steps, i):
                        continue
                    if steps[i - 1].opname == "SWAP" and steps[i - 2].argrepr.endswith("="):
                        self.maybe.append((reason, (code, at.offset)))
                        continue
                if reason:
                    self.recording.refuse(reason, (code, at.offset))
                    return

    def _is_context(self, code: CodeType, steps: list[Any], place: int) -> bool:
        """Does a custom Function keep something in its `ctx`, which is new in each call?"""
        name, given = self._contexts.get(code), steps[place - 1]
        rebound = any(at.opname == "STORE_FAST" and at.argval == name for at in steps)
        return name is not None and given.opname.startswith("LOAD_FAST") and given.argval == name and not rebound


def _is_of_user(frame: FrameType) -> bool:
    """Does a function run for the user? Python's library runs for whoever calls it; what runs because of an import does not."""
    code = frame.f_code
    if not is_users(code.co_filename) or code.co_name == "<module>":
        return False
    # Text that was compiled (a dataclass's `__init__`) belongs to the module that it runs in.
    if code.co_filename.startswith("<") and frame.f_globals.get("__name__", "").startswith(("clarion.", "namedtuple_")):
        return False
    owner = "user" if _whose(code.co_filename) == "user" else ""
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename != _VERSION:
        if caller.f_code.co_filename.startswith(("<frozen importlib", _KERNELS)):
            return False  # an import, or what kernels need: they know nothing of the user
        if not owner and _whose(caller.f_code.co_filename) in ("user", "ours"):
            owner = _whose(caller.f_code.co_filename)
        caller = caller.f_back
    return owner != "ours"


def _is_given_number(frame: FrameType) -> bool:
    """Does the user's code call a function with a value that was read? (Of their own only a Number can tell what they do.)"""
    caller = frame.f_back
    if caller is None or _whose(caller.f_code.co_filename) != "user" or frame.f_code.co_filename in _NUMBERS:
        return False
    own = _whose(frame.f_code.co_filename) == "user"
    if own and frame.f_code.co_name == "<listcomp>":
        return False
    leaves = tree_leaves(list(frame.f_locals.values()))
    return any(is_read(leaf) and not (own and type(leaf) is Number) for leaf in leaves)


def _here(frame: FrameType) -> Any:
    return frame.f_code, frame.f_lasti


def _is_pure(function: Any) -> bool:
    """Does a function of C's do nothing but compute, of its arguments alone?"""
    owner = getattr(function, "__self__", None)
    if owner is builtins:
        return function.__name__ in _BUILTINS
    if isinstance(owner, (*_PLAIN, np.ndarray, np.generic, np.dtype, Tensor)) and not isinstance(owner, type):
        return True  # (what it changes is seen afterwards, if anybody else can see it)
    if isinstance(owner, type):
        return owner in _PLAIN or owner is object or owner is type or issubclass(owner, (Tensor, BaseException))
    module = getattr(function, "__module__", None)
    if module is None and owner is None:  # a method of a built-in type
        return getattr(function, "__objclass__", None) in (*_PLAIN, object, type, property)
    if owner is not None and not isinstance(owner, type(sys)):
        return type(owner).__module__ in ("collections", "functools") or function.__name__ in ("__init__", "__new__")
    return module in _PURE_MODULES or (module or "").startswith("numpy._core")


def _writes(code: CodeType, at: Any, is_inner: bool) -> str | None:
    """What an instruction writes that outlives the call, in words."""
    word = at.opname
    if word in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return f"the global {at.argval!r} is written"
    if word in ("STORE_DEREF", "DELETE_DEREF") and at.argval in code.co_freevars and not is_inner:
        return f"the variable {at.argval!r} of an outer function is written"
    if word in ("STORE_ATTR", "DELETE_ATTR") and code.co_name not in _BUILDS and at.argval != "grad":
        return f"the attribute {at.argval!r} of an object is written"
    if word in ("YIELD_VALUE", "SEND") and code.co_flags & 0x280:  # a coroutine or an asynchronous generator
        return "it waits for something"
    return None


_OF_A_MODULE = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def globals_read(code: CodeType) -> Iterator[str]:
    """Names that a code reads from its module."""
    seen = set()
    for at in instructions(code):
        if at.opname in _OF_A_MODULE and at.argval not in seen:
            seen.add(at.argval)
            yield at.argval


def names_read(code: CodeType) -> set[str]:
    """Names of attributes that a code may read: also by a text that it holds (`attrgetter("size")`)."""
    texts = {
        word for each in code.co_consts if isinstance(each, str) for word in each.split(".") if word.isidentifier()
    }
    return set(code.co_names) | texts

"""The table of kernels: each is written once, against an array namespace `xp`, and bound per array library.

    @kernel("softplus")
    def softplus(xp, x, beta): ...       # portable: NumPy and CuPy run it as it stands

    ufunc("exp")                         # the array library's own function, called directly

An override for one library (`@override("softmax", numpy)`) is kept only where a benchmark shows its gain.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType, ModuleType
from typing import Any

import numpy

Kernel = Callable[..., Any]

_portable: dict[str, Kernel] = {}
_direct: dict[str, str] = {}
_overrides: dict[tuple[str, ModuleType], Kernel] = {}
_bound: dict[tuple[str, ModuleType], Kernel] = {}


def kernel(name: str) -> Callable[[Kernel], Kernel]:
    """Register the portable kernel of operation `name`: `function(xp, *arrays, *parameters)`."""

    def register(function: Kernel) -> Kernel:
        if name in _portable or name in _direct:
            raise ValueError(f"kernel {name!r} is registered twice")
        _portable[name] = function
        return function

    return register


def ufunc(name: str, attribute: str | None = None) -> None:
    """Operation `name` is the array library's own function, with nothing in between."""
    if name in _portable or name in _direct:
        raise ValueError(f"kernel {name!r} is registered twice")
    _direct[name] = attribute or name


def override(name: str, xp: ModuleType) -> Callable[[Kernel], Kernel]:
    """Register a faster kernel for one array library: `function(*arrays, *parameters)`."""

    def register(function: Kernel) -> Kernel:
        _overrides[name, xp] = function
        return function

    return register


def bind(name: str, xp: ModuleType = numpy) -> Kernel:
    """The kernel of operation `name` for the array library `xp`."""
    found = _bound.get((name, xp))
    if found is None:
        if (name, xp) in _overrides:
            found = _overrides[name, xp]
        elif name in _direct:
            found = getattr(xp, _direct[name])
        elif name in _portable:
            found = MethodType(_portable[name], xp)
        else:
            raise KeyError(f"no kernel is registered for operation {name!r}")
        _bound[name, xp] = found
    return found


def writes(found: Kernel) -> bool:
    """Can the kernel write its result into a given array (keyword-only `out`), which may be its first input too?"""
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if isinstance(found, MethodType):
        found = found.__func__
    if isinstance(found, numpy.ufunc):
        return True
    # Read off the code object: inspect.signature for every kernel costs 0.1 s at import.
    code = getattr(found, "__code__", None)
    if code is None:
        return False
    first = code.co_argcount
    return "out" in code.co_varnames[first : first + code.co_kwonlyargcount]


def portable(name: str, xp: ModuleType = numpy) -> Kernel:
    """The portable kernel, past any override: the specification that overrides are tested against."""
    return getattr(xp, _direct[name]) if name in _direct else MethodType(_portable[name], xp)


def names() -> set[str]:
    """All operations that have a kernel."""
    return set(_portable) | set(_direct)


class RawNamespace:
    """What a gradient rule sees as `ops` in the world of raw arrays: every kernel, by its operation's name."""

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Kernel:
        try:
            found = bind(name, self._xp)
        except KeyError as error:
            raise AttributeError(str(error)) from None
        setattr(self, name, found)
        return found


raw = RawNamespace(numpy)

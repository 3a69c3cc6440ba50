"""The table of kernels: what is offered for each operation, and what a call takes of it.

    @kernel("softplus")
    def softplus(xp, x, beta): ...       # portable: any array library runs it as it stands; the last resort, always there
    ufunc("exp", quiet=True)             # the array library's own function, called directly (NumPy's without warnings)
    offer("softmax", "numpy", fast, accepts=large)      # a faster one: taken where `accepts(*arguments)` holds
    offer("softmax", "llvm", compiled, least=4096)      # one for large arrays

An *array library* is a type of arrays with its namespace `xp` and its backends, fastest first; it is made known by
`know(name, array_type, xp, backends)`. NumPy is known from the start (below: the one place where its backends stand in
order). A *backend* offers kernels for the arrays of one library, at most one per operation, in a folder of its own
(`kernels/<backend>/`); the offers of several backends stack. An offer may be made before its library is known.

What a call takes is decided beforehand. As long as NumPy's arrays are the only ones, an operation's kernel *is* NumPy's
function, with nothing in between; where offers have guards it is a small function that asks them in turn; once another
library is known it is one that looks for an array of that library among the arguments. Whoever keeps a kernel (the calls
that are written out for an operation) keeps up with that through `follow`: an offer that is made later reaches them.
An offer is kept only where a benchmark shows its gain; the table's rows test it against the portable kernel.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from types import MethodType
from typing import Any

import numpy

from ..forks import fork_safe
from .choosing import Guard, Kernel, Offer, by_size, called_directly, of_offers, rule_by_type, with_scalars
from .quiet import quietly


@dataclass(frozen=True)
class Library:
    """A type of arrays: `xp` is its namespace, `backends` offer kernels for it, fastest first.

    `otherwise(name)` makes the kernel of an operation that no backend offers; None: the portable kernel over `xp`.
    `rules(rule, names)` makes the gradient rule of an elementwise operation; None: the rule as it stands, with scalars.
    """

    name: str
    array_type: type
    xp: Any
    backends: tuple[str, ...]
    otherwise: Callable[[str], Kernel] | None = None
    rules: Callable[[Kernel, tuple[str, ...]], Kernel] | None = None


@dataclass
class Cell:
    """What an operation's kernel is now, and everybody who keeps it."""

    function: Kernel
    writes: bool
    followers: list[Callable[[Kernel], None]] = field(default_factory=list)


_portable: dict[str, Kernel] = {}
_direct: dict[str, str] = {}
_quiet: set[str] = set()
elementwise: set[str] = set()  # operations whose kernels are expressions of elements: told by their declarations
moving: set[str] = set()  # those that only move data, whatever its type
_offers: dict[str, dict[str, Offer]] = {}
_cells: dict[str, Cell] = {}
_libraries: dict[str, Library] = {}
_described: dict[str, tuple[str, Callable[[], str | None]]] = {}
_lock = fork_safe(threading.RLock())


# What kernels are made of ------------------------------------------------------------------------------


def kernel(name: str) -> Callable[[Kernel], Kernel]:
    """Register the portable kernel of operation `name`: `function(xp, *arrays, *parameters)`."""

    def register(function: Kernel) -> Kernel:
        _refuse_second(name)
        _portable[name] = function
        return function

    return register


def ufunc(name: str, attribute: str | None = None, *, quiet: bool = False) -> None:
    """Operation `name` is the array library's own function, with nothing in between.

    `quiet`: infinities are met as a matter of course, so NumPy is kept from warning.
    """
    _refuse_second(name)
    _direct[name] = attribute or name
    if quiet:
        _quiet.add(name)


def _refuse_second(name: str) -> None:
    if name in _portable or name in _direct:
        raise ValueError(f"kernel {name!r} is registered twice")


@cache
def portable(name: str, xp: Any = numpy) -> Kernel:
    """The portable kernel, past all offers: the specification that they are tested against."""
    if name in _portable:
        return MethodType(_portable[name], xp)
    if name not in _direct:
        raise KeyError(f"no kernel is registered for operation {name!r}")
    own = getattr(xp, _direct[name])
    return quietly(own) if name in _quiet and xp is numpy else own


def portable_writes(name: str) -> bool:
    """Does the portable kernel take `out`? (Read off its code: inspect.signature of all would cost 0.1 s at import.)"""
    if name in _direct:
        # (NumPy 2.4's `negative` writes wrong numbers where both arrays have some strides.)
        return _direct[name] != "negative" and isinstance(getattr(numpy, _direct[name]), numpy.ufunc)
    code = _unwrapped(name).__code__
    first = code.co_argcount
    return "out" in code.co_varnames[first : first + code.co_kwonlyargcount]


def _unwrapped(name: str) -> Any:
    """The function of a portable kernel, without what is around it."""
    function: Any = _portable[name]
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def names() -> set[str]:
    """All operations that have a kernel."""
    return set(_portable) | set(_direct)


# Offers, backends, libraries ---------------------------------------------------------------------------


def offer(
    name: str,
    backend: str,
    function: Any = None,
    accepts: Guard | None = None,
    writes: bool = False,
    least: int = 0,
) -> Any:
    """Offer a backend's kernel for operation `name` (see `Offer`); without `function` a decorator."""
    if function is None:
        return partial(_offered, name, backend, accepts, writes, least)
    return _offered(name, backend, accepts, writes, least, function)


def _offered(name: str, backend: str, accepts: Guard | None, writes: bool, least: int, function: Kernel) -> Kernel:
    with _lock:
        offers = _offers.setdefault(name, {})
        if backend in offers:
            raise ValueError(f"the backend {backend!r} offers {name!r} twice")
        offers[backend] = Offer(backend, function, accepts, writes, least)
        if hasattr(function, "builtin"):
            function.ready = partial(rebind, name)
        rebind(name)
    return function


def withdraw(backend: str, name: str | None = None) -> None:
    """Take back a backend's offer for one operation, or all of them (its library could not be loaded after all)."""
    with _lock:
        for each in [name] if name is not None else list(_offers):
            if _offers[each].pop(backend, None) is not None:
                rebind(each)


def know(
    name: str,
    array_type: type,
    xp: Any,
    backends: tuple[str, ...] = (),
    otherwise: Callable[[str], Kernel] | None = None,
    rules: Callable[[Kernel, tuple[str, ...]], Kernel] | None = None,
) -> None:
    """Make an array library known: from now on its arrays find their kernels."""
    with _lock:
        if name in _libraries:
            raise ValueError(f"the array library {name!r} is known already")
        taken = {backend for library in _libraries.values() for backend in library.backends}
        if taken & set(backends):
            raise ValueError(f"the backends {sorted(taken & set(backends))} belong to another array library")
        _libraries[name] = Library(name, array_type, xp, backends, otherwise, rules)
        _rebind_all()


def forget(name: str) -> None:
    """The opposite of `know`."""
    with _lock:
        del _libraries[name]
        _rebind_all()


def libraries() -> tuple[Library, ...]:
    """The array libraries that are known, NumPy first."""
    return tuple(_libraries.values())


def library_of(array: Any) -> Library:
    """The library that an array is of; a number out of a NumPy array (the sum of two without dimensions is one) is of NumPy."""
    if isinstance(array, numpy.generic):
        return _libraries["numpy"]
    for library in _libraries.values():
        if isinstance(array, library.array_type):
            return library
    raise TypeError(f"no array library is known for {type(array).__name__}")


def describe(backend: str, what: str, missing: Callable[[], str | None] = lambda: None) -> None:
    """Say for `clarion info` what a backend is; `missing()`: what it lacks to work here, or None."""
    _described[backend] = (what, missing)


def backends() -> Iterator[tuple[str, str, str | None]]:
    """Every backend that described itself: name, what it is, and what it lacks."""
    for backend, (what, missing) in _described.items():
        yield backend, what, missing()


def offers(name: str) -> dict[str, Offer]:
    """What the backends offer for operation `name`."""
    return dict(_offers.get(name, {}))


def chain(name: str, library: str = "numpy") -> list[Offer]:
    """What is asked in turn when operation `name` is called on arrays of a library; the last one takes everything."""
    offers, known = _offers.get(name, {}), _libraries[library]
    asked: list[Offer] = []
    for backend in known.backends:
        if backend in offers:
            asked.append(offers[backend])
            if offers[backend].accepts is None and not offers[backend].least:
                return asked
    if known.otherwise is not None:
        return [*asked, Offer(library, known.otherwise(name))]
    return [*asked, Offer("portable", portable(name, known.xp), None, portable_writes(name))]


# What a call takes -------------------------------------------------------------------------------------


def bind(name: str) -> Kernel:
    """The kernel of operation `name` as it is now; `follow` keeps up with changes."""
    return _cell(name).function


def writes(name: str) -> bool:
    """Can the kernel write its result into a given array (keyword `out`), which may be its first input too?"""
    return _cell(name).writes


def follow(name: str, tell: Callable[[Kernel], None]) -> None:
    """Call `tell` with the kernel of operation `name`, now and whenever it becomes another one."""
    cell = _cell(name)
    with _lock:
        cell.followers.append(tell)
        tell(cell.function)


def _cell(name: str) -> Cell:
    found = _cells.get(name)
    if found is None:
        with _lock:
            found = _cells[name] = Cell(*_chosen(name))
    return found


def rebind(name: str) -> None:
    """Choose anew what calls of an operation take, and tell everybody who keeps it."""
    with _lock:
        cell = _cells.get(name)
        if cell is not None:
            cell.function, cell.writes = _chosen(name)
            for tell in cell.followers:
                tell(cell.function)


def _chosen(name: str) -> tuple[Kernel, bool]:
    """What a `Cell` holds."""
    chains = {library.array_type: chain(name, library.name) for library in _libraries.values()}
    writing = any(offer.writes for asked in chains.values() for offer in asked)
    chosen = of_offers(chains.pop(numpy.ndarray), chains, writing)
    return (chosen if _around is None else _around(name, chosen)), writing


_around: Callable[[str, Kernel], Kernel] | None = None


def surround(around: Callable[[str, Kernel], Kernel] | None) -> None:
    """Put `around(name, kernel)` in the place of every kernel, for who wants to see each of them run; None: take it away."""
    global _around
    with _lock:
        _around = around
        _rebind_all()


def _rebind_all() -> None:
    for each in _cells:
        rebind(each)
    for rule in _rules:
        rule.rebind()


# Gradient rules ----------------------------------------------------------------------------------------

_rules: list[RawRule] = []


class Fusion:
    """How a backend runs gradient rules of elementwise operations on arrays of at least `least` elements."""

    least: int = sys.maxsize
    make: Callable[[str, Kernel, tuple[str, ...], Callable[[], None]], Kernel] | None = None


def fuse_rules(make: Any, least: int) -> None:
    """From `least` elements on, a rule runs as `make(name, rule, names of its arguments after g, when it is ready)` does it."""
    Fusion.make, Fusion.least = make, least


class RawRule:
    """The gradient rule of an elementwise operation on raw arrays; `tell` is told what runs it, now and when that changes."""

    def __init__(self, name: str, rule: Kernel, names: tuple[str, ...], tell: Callable[[Kernel], None]) -> None:
        self.rule, self.names, self.tell = rule, names, tell
        self.fused = None if Fusion.make is None else Fusion.make(name, rule, names, self.rebind)

    def rebind(self) -> None:
        """Choose anew what runs the rule."""
        with _lock:
            _, *others = _libraries.values()
            run, fused = self.rule, self.fused
            if fused is not None:
                run = by_size(self.rule, Fusion.least, fused, fused)
            run = rule_by_type(run, {library.array_type: self._elsewhere(library) for library in others})
            self.tell(called_directly(run, fused))

    def _elsewhere(self, library: Library) -> Kernel:
        return with_scalars(self.rule) if library.rules is None else library.rules(self.rule, self.names)


def follow_rule(name: str, rule: Kernel, names: tuple[str, ...], tell: Callable[[Kernel], None]) -> None:
    """Call `tell` with the function that runs a gradient rule on raw arrays, now and whenever it becomes another one."""
    with _lock:
        made = RawRule(name, rule, names, tell)
        _rules.append(made)
        made.rebind()


class RawNamespace:
    """What a gradient rule sees as `ops` in the world of raw arrays: every kernel, by its operation's name."""

    def __getattr__(self, name: str) -> Kernel:
        try:
            follow(name, partial(setattr, self, name))
        except KeyError as error:
            raise AttributeError(str(error)) from None
        return self.__dict__[name]  # type: ignore[no-any-return]


# NumPy's backends, fastest first.
know("numpy", numpy.ndarray, numpy, ("direct", "llvm", "numpy"))
describe("portable", "every kernel once, over any array library")
raw = RawNamespace()

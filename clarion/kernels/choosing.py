"""What a call takes of an operation's offers: functions made of kernels, so that a call asks as little as possible."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy

from .. import config
from .spreading import with_short_rows

Kernel = Callable[..., Any]
Guard = Callable[..., bool]

# NOTE [Warming up]: a kernel is compiled when it has been called on small arrays so often that it may be worth it. From then on
# it computes: so this is for kernels that give the same bits either way (arithmetic, comparisons, roots). A kernel with functions of its
# own (exp, a sum in another order) computes from its first call on, or never below a size: a program that does the same
# thing twice gets the same numbers twice.
HEAT = 1 if config.COMPILE == "all" else 600
_LARGE = 100  # what a call on a large array counts for
_INT64 = numpy.dtype(numpy.int64)
_MUCH = 1 << 15  # elements from which two that broadcast count as much


@dataclass(frozen=True)
class Offer:
    """A kernel of one backend: `function(*arrays, *parameters)`, taken where `accepts` holds for the same arguments.

    `writes`: it takes the keyword `out`, an array for its result, which may be its first input too. `least`: it is for large
    arrays, and asked only where the first argument has so many elements; it may still decline, by giving NotImplemented.

    A function may have a method `builtin(otherwise)`: then it can be called directly, and hands what it is not for to `otherwise`;
    `builtin` gives None until `warm(*arguments)` has prepared it, after `heat` calls (NOTE [Direct calls] in llvm/direct.py). A function
    with an attribute `alone` can be called in no other way.
    """

    backend: str
    function: Kernel
    accepts: Guard | None = None
    writes: bool = False
    least: int = 0


def of_offers(asked: list[Offer], others: dict[type, list[Offer]], writing: bool) -> Kernel:
    """What a call takes: of the offers for NumPy's arrays in turn, unless an array of another library is met."""
    alone = asked[0].function
    if hasattr(alone, "alone"):
        return _before(of_offers(asked[1:], others, writing), alone)
    elsewhere = {array_type: _one_after_the_other(offers, writing) for array_type, offers in others.items()}
    large = _one_after_the_other(asked, writing)
    least = min([offer.least for offer in asked if offer.least], default=sys.maxsize)
    choose = partial(_by_one_type, others) if len(others) == 1 else by_type
    if least == sys.maxsize or (
        least == 1 and not hasattr(asked[0].function, "warm")
    ):  # (offers themselves ask for one element)
        return choose(large, elsewhere)
    small = _one_after_the_other([offer for offer in asked if not offer.least], writing)
    first = asked[0].function
    rest = choose(by_size(small, least, large, first), elsewhere)
    beside = getattr(first, "beside", None)  # a builtin function for what the first is not for
    return called_directly(rest if beside is None else _before(rest, beside), first)


def by_size(small: Kernel, least: int, large: Kernel, compiled: Any) -> Kernel:
    """One kernel for few elements, another one for many. After so many calls `compiled` is told what is asked for."""
    left = getattr(compiled, "heat", 0)
    few = int(left > 1)  # what a call on a small array counts for: nothing, where only large ones are compiled
    again = HEAT  # (twice as long each time: what is told once is known)
    counters = max(1, HEAT // 6)  # writes to few whole numbers, for which nothing is compiled

    def call(first: Any, *more: Any, **out: Any) -> Any:
        nonlocal left, again, counters
        if out and few and first.dtype is _INT64 and first.size < least:
            counters -= 1
            if counters == 0 and hasattr(compiled, "warm_for_counters"):
                compiled.warm_for_counters()
            return small(first, *more, **out)
        if few and len(more) == 1 and first.ndim > 2 and not out:
            first, *more = with_short_rows(first, more[0])
        kernel, spent = (small, few) if first.size < least else (large, _LARGE)
        if spent == 1 and compiled.card is None and _spread_far(first, *more):
            spent = _LARGE
        left -= spent
        if left <= 0 < left + spent:
            left, again = again, 2 * again
            compiled.warm(first, *more)
        return kernel(first, *more, **out)

    return call if few else _straight(small, least, call)


def _spread_far(first: Any, second: Any = None, *_: Any) -> bool:
    """Is the result of two arrays that broadcast a large one?"""
    return type(second) is numpy.ndarray and first.shape != second.shape and first.size * second.size >= _MUCH


def _straight(small: Kernel, least: int, otherwise: Kernel) -> Kernel:
    """Few elements straight to `small`, with its own parameters: to gather and spread them costs as much as a small kernel."""
    names = _plain_parameters(small)
    return otherwise if names is None or "out" in names else _with_parameters(names)(small, least, otherwise)  # type: ignore[no-any-return]


@cache
def _with_parameters(names: tuple[str, ...]) -> Any:
    given = ", ".join(names)
    text = f"""
def choice(small, least, otherwise):
    def call({given}, **out):
        if {names[0]}.size < least:
            return small({given}, **out) if out else small({given})
        return otherwise({given}, **out)
    return call
"""
    scope: dict[str, Any] = {}
    exec(compile(text, "<call of a kernel>", "exec"), scope)
    return scope["choice"]


def _before(rest: Kernel, alone: Any) -> Kernel:
    """A kernel that exists as a builtin function alone, before all others: made at the first call.

    Who took this function before that calls it again (the slices of a large tensor, one by one).
    """
    made: Kernel | None = None

    def call(*args: Any, **out: Any) -> Any:
        nonlocal made
        if made is not None:
            return made(*args, **out)
        alone.warm(*args)
        direct = called_directly(rest, alone)
        if alone.card is not None:
            made = direct
        return direct(*args, **out)

    return called_directly(rest if alone.card else call, alone)


def called_directly(otherwise: Kernel, compiled: Any) -> Kernel:
    """A kernel that is called directly if it can be; what it is not for goes to `otherwise`."""
    made = compiled.builtin(otherwise) if hasattr(compiled, "builtin") else None
    return otherwise if made is None else made  # type: ignore[no-any-return]


def _one_after_the_other(asked: list[Offer], writing: bool) -> Kernel:
    """The first offer that accepts the arguments. With `writing`, the function takes `out`, whether all offers do or not."""
    *guarded, last = asked
    plain = last.function if last.writes or not writing else _copying(last.function)
    if not guarded:
        return plain

    def call(*args: Any) -> Any:
        for offer in guarded:
            if (offer.accepts is None or offer.accepts(*args)) and (not offer.least or args[0].size >= offer.least):
                result = offer.function(*args)
                if result is not NotImplemented:
                    return result
        return plain(*args)

    def call_or_write(*args: Any, out: Any = None) -> Any:
        if out is None:
            return call(*args)
        for offer in guarded:
            if not offer.writes or (offer.accepts is not None and not offer.accepts(*args)):
                continue
            if not offer.least or args[0].size >= offer.least:
                result = offer.function(*args, out=out)
                if result is not NotImplemented:
                    return result
        return plain(*args, out=out)

    if writing:
        return call_or_write
    return _one_before(guarded[0], plain) if len(guarded) == 1 else call


def _one_before(offer: Offer, plain: Kernel) -> Kernel:
    """An offer that may decline, and what is called then."""
    accepts, function, least = offer.accepts, offer.function, offer.least

    def call(*args: Any) -> Any:
        if (accepts is None or accepts(*args)) and (not least or args[0].size >= least):
            result = function(*args)
            if result is not NotImplemented:
                return result
        return plain(*args)

    return call


def always(*_: Any) -> bool:
    """The guard of an offer that looks for itself whether it is for the arguments (it gives NotImplemented if not)."""
    return True


def _by_one_type(others: dict[type, list[Offer]], host: Kernel, elsewhere: dict[type, Kernel]) -> Kernel:
    """`by_type`, where one library beside NumPy is known: its offers are asked in the same call."""
    general = by_type(host, elsewhere)
    ((array_type, offers),) = others.items()
    first = offers[0].function
    if any(offer.least for offer in offers):
        return general
    if len(offers) == 1 and hasattr(first, "called_by_type"):
        return first.called_by_type(general)  # type: ignore[no-any-return]
    names = _plain_parameters(first)
    if names is None:
        return _gathering(array_type, general, elsewhere[array_type])
    names = tuple([f"a{i}" for i in range(len(names))])  # (an input may be called `out`)
    asked = tuple([offer.accepts is not None and offer.accepts is not always for offer in offers])
    kernels = [offer.function for offer in offers]
    return _written_by_type(names, asked)(array_type, general, kernels, [offer.accepts for offer in offers])  # type: ignore[no-any-return]


def _gathering(array_type: type, general: Kernel, kernel: Kernel) -> Kernel:
    number = numpy.ndarray

    def call(*args: Any, out: Any = None) -> Any:
        if out is not None:
            return general(*args, out=out)
        if not args or type(args[0]) is not array_type or number in map(type, args):
            return general(*args)
        return kernel(*args)

    return call


def _plain_parameters(function: Any) -> tuple[str, ...] | None:
    """The names of a function's parameters, if each of them has to be given by its place."""
    own: Any = getattr(function, "__func__", function)
    code = getattr(own, "__code__", None)
    if code is None or own.__defaults__:
        return None
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    names: tuple[str, ...] = code.co_varnames[int(own is not function) : code.co_argcount]
    return names or None


@cache
def _written_by_type(names: tuple[str, ...], asked: tuple[bool, ...]) -> Any:
    """The choice, written out with the parameters of a kernel: to gather and spread them costs as much as a launch."""
    given, first = ", ".join(names), names[0]
    numbers = "".join(f" or type({name}) is number" for name in names[1:])
    body = ""
    for k, guarded in enumerate(asked[:-1]):
        step = " " * (12 if guarded else 8)
        body += f"        if accepts{k}({given}):\n" if guarded else ""
        body += f"{step}result = kernel{k}({given})\n{step}if result is not NotImplemented:\n{step}    return result\n"
    every = range(len(asked))
    text = f"""
def choice(array_type, general, kernels, accepts):
    {", ".join(f"kernel{k}" for k in every)}, = kernels
    {", ".join(f"accepts{k}" for k in every)}, = accepts
    def call({given}, out=None):
        if out is not None:
            return general({given}, out=out)
        if type({first}) is not array_type{numbers}:
            return general({given})
{body}        return kernel{len(asked) - 1}({given})
    return call
"""
    scope: dict[str, Any] = {"number": numpy.ndarray}
    exec(compile(text, "<call of a kernel>", "exec"), scope)
    return scope["choice"]


def _copying(function: Kernel) -> Kernel:
    """A kernel that cannot write, with `out`: the result is copied."""

    def call(*args: Any, out: Any = None) -> Any:
        result = function(*args)
        if out is None:
            return result
        if result.shape != out.shape:
            raise ValueError(f"could not broadcast: a result of shape {result.shape} into one of shape {out.shape}")
        out[...] = result
        return out

    return call


class Strangers:
    """Who says what is wrong where arrays of the host meet those of another library (`refuse(arrays)`), if that is what is wrong."""

    refuse: Callable[[list[Any]], None] = staticmethod(lambda arrays: None)
    made_where: Callable[[Any], str] = staticmethod(
        lambda array: ""
    )  # the line that made the tensor of an array, if it is known


def _met(kernel: Kernel, args: tuple[Any, ...], out: dict[str, Any]) -> Any:
    """A call whose arrays may be of two libraries: some kernels are for that (indices of the host), others fail in some way."""
    try:
        return kernel(*args, **out)
    except (TypeError, ValueError, AttributeError, NotImplementedError, DeprecationWarning):
        Strangers.refuse([each for a in args for each in (a if type(a) in (list, tuple) else (a,))])
        raise


def by_type(host: Kernel, kernels: dict[type, Kernel]) -> Kernel:
    """The kernel for the arguments' array library: NumPy's, unless one of them is another library's array.

    Numbers come as NumPy's 0-dim arrays, so that is no sign of NumPy; another library's kernels get them as scalars.
    A variadic kernel has a sequence first.
    """
    if not kernels:
        return host

    def call(*args: Any, **out: Any) -> Any:
        for value in args:
            found = kernels.get(type(value))
            if found is not None:
                if numpy.ndarray in map(type, args):
                    args = tuple([a[()] if type(a) is numpy.ndarray and not a.ndim else a for a in args])
                    return _met(found, args, out) if numpy.ndarray in map(type, args) else found(*args, **out)
                return found(*args, **out)
        if type(args[0]) is list or type(args[0]) is tuple:
            for value in args[0]:
                found = kernels.get(type(value))
                if found is not None:
                    return _met(found, args, out)
        return host(*args, **out)

    return call


# Gradient rules ----------------------------------------------------------------------------------------


def rule_by_type(host: Kernel, kernels: dict[type, Kernel]) -> Kernel:
    """The same for a gradient rule, whose first argument is the gradient."""
    if not kernels:
        return host

    def call(g: Any, *values: Any) -> Any:
        return kernels.get(type(g), host)(g, *values)

    return call


def with_scalars(rule: Kernel) -> Kernel:
    """The rule for arrays that do not meet NumPy's: numbers, which were kept as its 0-dim arrays, as scalars."""

    def call(g: Any, *values: Any) -> Any:
        return rule(g, *[value[()] if type(value) is numpy.ndarray and not value.ndim else value for value in values])

    return call

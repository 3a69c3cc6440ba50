"""Calling a kernel, or a gradient rule, with symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import registry
from .graph import EACH, ROW, Book, Program, Untraceable
from .symbols import BOOL, FLOATS, Array, Namespace

READABLE = (*FLOATS, BOOL)


@dataclass(frozen=True)
class Input:
    """Stands for an array among the arguments: its type, and whether it has one value per row."""

    dtype: Any
    space: int = EACH


def trace(function: Callable[..., Any], arguments: Sequence[Any], by_rows: bool = False) -> Program:
    """What `function(xp, *arguments)` computes. `Input`s become symbols, everything else is passed as it is."""
    book = Book()
    return _run(book, by_rows, arguments, lambda args: function(Namespace(book), *args))


def trace_kernel(name: str, arguments: Sequence[Any], by_rows: bool = False) -> Program:
    """What the portable kernel of an operation computes."""
    return trace(lambda xp, *args: registry.portable(name, xp)(*args), arguments, by_rows)


def trace_rule(rule: Callable[..., Any], names: Sequence[str], arguments: Sequence[Any]) -> Program:
    """What a gradient rule `rule(g, *values)` computes; the value of the name `ops` is not among the arguments."""
    book = Book()

    def call(args: list[Any]) -> Any:
        rest = iter(args[1:])
        ops = Kernels(Namespace(book))
        return rule(args[0], *[ops if name == "ops" else next(rest) for name in names])

    return _run(book, False, arguments, call)


def _run(book: Book, by_rows: bool, arguments: Sequence[Any], call: Callable[[list[Any]], Any]) -> Program:
    inputs, args = [], []
    for value in arguments:
        if isinstance(value, Input):
            if np.dtype(value.dtype) not in READABLE and not (value.space == ROW and value.dtype == np.int64):
                raise Untraceable(f"an array of {value.dtype}")
            inputs.append(book.input(len(inputs), value.dtype, value.space))
            args.append(Array(book, inputs[-1], by_rows, True))
        else:
            args.append(value)
    try:
        found = call(args)
    except Untraceable:
        raise
    except Exception as error:  # the function does something with a symbol that symbols cannot do
        raise Untraceable(f"{type(error).__name__}: {error}") from None
    results = found if isinstance(found, tuple) else (found,)
    if not results or not all(isinstance(result, Array) for result in results):
        raise Untraceable("a result that is no array")
    if not by_rows and any(term.space == ROW for term in [result.term for result in results]):
        raise Untraceable("a result with a value per row")
    return Program(inputs, [result.term for result in results], by_rows, [result.kept for result in results])


class Kernels:
    """What a gradient rule sees as `ops`: the portable kernels, on symbols."""

    def __init__(self, xp: Namespace) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return registry.portable(name, self._xp)

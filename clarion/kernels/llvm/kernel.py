"""A kernel that is compiled when it first meets types and parameters; later calls find it by those."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import config
from ..quiet import restore, silence

ndarray = np.ndarray
_lock = threading.RLock()
MOST = 16  # versions of one kernel, for different types and parameters: more are not worth compiling
CHEAP = (
    1 if config.COMPILE == "all" else 1 << 16
)  # elements from which a loop that only waits for memory gains by threads


class Compiled:
    """A function of arrays and parameters. It declines (NotImplemented) what cannot be compiled."""

    def __init__(self, name: str, trace: Callable[[Sequence[Any]], Any], build: str = "elementwise") -> None:
        self.name, self.trace, self.build = name, trace, build
        self.known: dict[Any, tuple[Any, int] | None] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if type(args[0]) is not ndarray:  # a scalar: 0 dimensions
            return NotImplemented
        key = tuple([a.dtype.char if type(a) is ndarray else a for a in args])
        try:
            found = self.known[key]
        except KeyError:
            found = self.compile(key, args)
        except TypeError:  # a parameter that cannot be told from others
            return NotImplemented
        if found is None or args[0].size < found[1]:
            return NotImplemented
        arrays = [a for a in args if type(a) is ndarray]
        quiet = silence()
        try:
            return found[0](*arrays) if out is None else found[0](*arrays, out=out)
        finally:
            restore(quiet)

    def compile(self, key: Any, args: Sequence[Any]) -> tuple[Any, int] | None:
        """The function for these types and parameters, and how large arrays must be; None if there is none."""
        from . import build

        with _lock:
            if key not in self.known:
                self.known[key] = build.function(self, args) if len(self.known) < MOST else None
            return self.known[key]


class Rows(Compiled):
    """The same for functions of rows, which are the last dimension; `arrange` brings arguments and results into that form."""

    def __init__(self, name: str, trace: Callable[[Sequence[Any]], Any], arrange: Any) -> None:
        super().__init__(name, trace, "by_rows")
        self.arrange = arrange

    def __call__(self, *args: Any, out: Any = None) -> Any:
        arranged = self.arrange(*args)
        if arranged is None:
            return NotImplemented
        args, shape = arranged
        for a in args:
            if type(a) is ndarray and not a.flags.c_contiguous:
                return NotImplemented
        result = super().__call__(*args)
        return result if shape is None or result is NotImplemented else shape(result)


class Fused:
    """A gradient rule on large arrays: one pass where it can be compiled, the rule itself elsewhere."""

    def __init__(self, name: str, rule: Callable[..., Any], names: Sequence[str]) -> None:
        self.rule = rule
        self.ops = names.index("ops") + 1 if "ops" in names else None
        self.compiled = Compiled(name, lambda args: _traced_rule(rule, names, args))

    def __call__(self, *args: Any) -> Any:
        given = args if self.ops is None else args[: self.ops] + args[self.ops + 1 :]
        result = self.compiled(*given)
        return self.rule(*args) if result is NotImplemented else result


def _traced_rule(rule: Callable[..., Any], names: Sequence[str], args: Sequence[Any]) -> Any:
    from ..trace.tracer import trace_rule

    return trace_rule(rule, names, args)

"""A kernel that is compiled when it first meets types and parameters; later calls find it by those."""

from __future__ import annotations

import math
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


WIDE = 2048  # bytes of a row up to which columns are added up faster than by a product with ones


class Compiled:
    """A function of arrays and parameters. It declines (NotImplemented) what cannot be compiled."""

    for_any_size = False  # worth it even where it only waits for memory

    def __init__(self, name: str, trace: Callable[[Sequence[Any]], Any]) -> None:
        self.name, self.trace = name, trace
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

    def __init__(
        self, name: str, trace: Callable[[Sequence[Any]], Any], arrange: Any, per_row: tuple[int, ...]
    ) -> None:
        super().__init__(name, trace)
        self.arrange = arrange
        self.per_row = per_row  # which arguments have one value per row

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


def sum_of_columns(x: Any, ndim: int = 1) -> Any:
    """The sum over all but the last `ndim` dimensions."""
    if type(x) is not ndarray or x.dtype.char not in "fd" or x.ndim <= ndim or not x.flags.c_contiguous:
        return NotImplemented
    from . import build

    function = build.sum_of_columns(x.dtype.char)
    inner = x.shape[x.ndim - ndim :]
    width = math.prod(inner)
    if function is None or not x.size or width * x.itemsize > WIDE:
        return NotImplemented
    return function(x.reshape(-1, width)).reshape(inner)


class Update:
    """A step of an optimizer over a parameter and its state, in place and in one pass."""

    def __init__(self, name: str, rule: Callable[..., Any]) -> None:
        self.name, self.rule = name, rule
        self.known: dict[Any, Compiled] = {}

    def __call__(self, p: Any, g: Any, kept: tuple[Any, ...], numbers: tuple[float, ...], how: tuple[str, ...]) -> Any:
        form = (len(kept), len(numbers), how)
        compiled = self.known.get(form)
        if compiled is None:
            compiled = self.known[form] = Compiled(self.name, lambda args: self._traced(form, args))
            compiled.for_any_size = True
        scalars = [np.asarray(number, p.dtype) for number in numbers]
        result = compiled(p, g, *kept, *scalars, out=(p, *kept))
        return result if result is NotImplemented else None

    def _traced(self, form: tuple[int, int, tuple[str, ...]], args: Sequence[Any]) -> Any:
        from ..trace import tracer

        kept, _, how = form

        def call(xp: Any, p: Any, g: Any, *more: Any) -> Any:
            return self.rule(xp, p, g, more[:kept], more[kept:], how)

        return tracer.trace(call, args)


class Fused:
    """A gradient rule on large arrays: one pass where it can be compiled, the rule itself elsewhere."""

    def __init__(self, name: str, rule: Callable[..., Any], names: Sequence[str]) -> None:
        self.rule = rule
        self.ops = names.index("ops") + 1 if "ops" in names else None
        self.compiled = Compiled(name, lambda args: _traced_rule(rule, names, args))

    def __call__(self, *args: Any) -> Any:
        g = args[0]
        if type(g) is ndarray and not any(g.strides) and g.size:  # one number in all places: it stays one
            if not any(type(a) is ndarray and a.ndim for a in args[1:]):
                return np.broadcast_to(self.rule(g[(0,) * g.ndim], *args[1:]), g.shape)
        given = args if self.ops is None else args[: self.ops] + args[self.ops + 1 :]
        result = self.compiled(*given)
        return self.rule(*args) if result is NotImplemented else result


def _traced_rule(rule: Callable[..., Any], names: Sequence[str], args: Sequence[Any]) -> Any:
    from ..trace.tracer import trace_rule

    return trace_rule(rule, names, args)

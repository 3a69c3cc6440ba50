"""A kernel that is compiled when it first meets types and parameters; later calls find it by those."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import config
from ...forks import whole_over_forks
from .. import registry
from ..choosing import HEAT
from ..layout import dense_order
from ..quiet import restore, silence
from .kept import keeps

ndarray = np.ndarray
_lock = whole_over_forks(threading.RLock())
MOST = 16  # versions of one kernel, for different types and parameters: more are not worth compiling
CHEAP = (
    1 if config.COMPILE == "all" else 1 << 15
)  # elements from which a loop that only waits for memory gains by threads
GRADIENTS = 1 if config.COMPILE == "all" else 8192  # elements from which a gradient rule is worth compiling
# Operations whose compiled results may have other last bits than the array library's.
FUNCTIONS_OF_ITS_OWN = frozenset(
    ["exp", "expm1", "exp2", "log", "log1p", "tanh", "erf", "ndtr", "sigmoid", "sin", "cos", "pow", "sum"]
)

SHORT = 32  # elements of a row below which it is not worth a call of its own
BLOCK = 512  # elements of a long sum that are added up by themselves
LONG_ROW = 1 << 14  # elements up to which a row is summed as it is: in 64 parts, so that float32 stays accurate
WIDE = 2048  # bytes of a row up to which columns are added up faster than by a product with ones


class Version(NamedTuple):
    """A kernel compiled for types and parameters."""

    function: Any  # as NumPy calls it
    least: int  # elements from which that is worth the call
    plan: Any  # of the loop around the compiled body
    form: Any  # how it is called directly (cards.py)
    words: frozenset[str] = frozenset()  # the operations that it is made of


class Compiled:
    """A function of arrays and parameters. It declines (NotImplemented) what cannot be compiled."""

    for_any_size = False  # worth it even where it only waits for memory
    largest = sys.maxsize  # elements up to which it is for it
    largest_direct = sys.maxsize  # elements up to which it is called directly, without a look at the shape

    def __init__(self, name: str, trace: Callable[[Sequence[Any]], Any], least: int = 1) -> None:
        self.name, self.trace = name, trace
        self.least = least  # elements from which it is called directly
        self.heat = 1  # calls after which it is: NOTE [Warming up]
        self.known: dict[Any, Version | None] = {}
        self.spread: dict[Any, Any] = {}  # functions of rows, for operands that are spread over whole arrays
        self.card: Any = None
        self.ready: Callable[[], None] = _nothing  # to be called when the kernel can first be called directly

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if type(args[0]) is not ndarray:  # a scalar: 0 dimensions
            return NotImplemented
        found = self.version(args)
        if found is None or args[0].size < found.least:
            return NotImplemented
        arrays = [a for a in args if type(a) is ndarray]
        function = found.function
        back = None
        if out is None and len(arrays) > 1 and args[0].size >= CHEAP and not isinstance(self, Rows):
            function, arrays = self._beside_rows(args, arrays, function)
            back, arrays = _laid_alike(arrays)
        quiet = silence()
        try:
            if back is not None:
                return function(*arrays).transpose(back)
            return function(*arrays) if out is None else function(*arrays, out=out)
        finally:
            restore(quiet)

    def _beside_rows(self, args: Sequence[Any], arrays: list[Any], function: Any) -> tuple[Any, list[Any]]:
        """Beside whole arrays one row for all, or a number for each row: NumPy would call the loop row by row, on one thread."""
        shape = args[0].shape
        forms = _forms(shape, arrays)
        if forms is None or shape[-1] < SHORT:
            return function, arrays
        key = (forms, *[a.dtype.char if type(a) is ndarray else a for a in args])
        if key not in self.spread:
            with _lock:
                from . import build

                self.spread[key] = build.beside_rows(self, args, forms) if len(self.spread) < MOST else None
        made = self.spread[key]
        if made is None:
            return function, arrays
        return made, [
            a if form == "whole" else a.reshape(-1) if form == "row" else a[..., 0]
            for a, form in zip(arrays, forms, strict=True)
        ]

    def arranged(self, args: Sequence[Any]) -> Sequence[Any] | None:
        """The arguments as the compiled function takes them; None if they are not for it."""
        return args if type(args[0]) is ndarray else None

    def version(self, args: Sequence[Any]) -> Version | None:
        """What is compiled for such arguments, None if that cannot be."""
        key = tuple([a.dtype.char if type(a) is ndarray else a for a in args])
        try:
            return self.known[key]
        except KeyError:
            pass
        except TypeError:  # a parameter that cannot be told from others
            return None
        with _lock:
            from . import build

            if key not in self.known:
                self.known[key] = build.version(self, args) if len(self.known) < MOST else None
            return self.known[key]

    # NOTE [Direct calls] -----------------------------------------------------------------------------

    def warm(self, *args: Any) -> None:
        """The kernel is often called with such arguments: from now on directly."""
        arranged = self.arranged(args)
        found = None if arranged is None else self.version(arranged)
        if found is None:
            return
        with _lock:
            new = self._make_card()
            if self.card is None:
                return
            found.form.least = self.least_of(found)
            found.form.largest = min(self.largest, self.largest_direct)
            self.card.add(found.plan, args, found.form)
        if new:
            self.ready()

    def _make_card(self) -> bool:
        """Is there a card now that was not there before?"""
        from . import cards

        if self.card is not None or not cards.available():
            return False
        self.card = cards.Card(self.name)
        return True

    def warm_for_counters(self) -> None:
        """Whole numbers are often written to: what does all of such a write is known from now on, if there is something (writes.py)."""
        from . import writes

        with _lock:
            new = self.name in writes.KERNELS and self._make_card()
        if new:
            self.ready()

    def least_of(self, version: Version) -> int:
        """Elements from which a version is called directly."""
        return self.least

    def builtin(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The kernel as a builtin function, once it is warm; what it is not for goes to `otherwise`."""
        return None if self.card is None else self.card.called(otherwise)  # type: ignore[no-any-return]


def _forms(shape: tuple[int, ...], arrays: list[Any]) -> tuple[str, ...] | None:
    """Of each array: is it whole, one row, or one number per row? None where one is otherwise, or all are whole."""
    forms = []
    for a in arrays:
        if a.shape == (*shape[:-1], 1):
            forms.append("number")
        elif not a.flags.c_contiguous:
            return None
        elif a.shape == shape:
            forms.append("whole")
        elif a.ndim and a.size == shape[-1] == a.shape[-1] and a.ndim <= len(shape):
            forms.append("row")
        else:
            return None
    return tuple(forms) if len(set(forms)) > 1 else None


def _laid_alike(arrays: list[Any]) -> tuple[Any, list[Any]]:
    """Arrays of one shape that lie differently, in rows: as the first of them lies; and how to turn the result back, None where
    nothing was done. NumPy would go through all but one of them in steps."""
    first, *others = arrays
    if all(a.strides == first.strides for a in others) or any(a.shape != first.shape for a in others if a.ndim):
        return None, arrays
    from .turning import turned

    order = list(range(first.ndim)) if first.flags.c_contiguous else dense_order(first)
    found = []
    for a in arrays:
        if a.ndim:
            a = a.transpose(order)
            if not a.flags.c_contiguous:
                a = turned(a) if found else None
        if a is None:
            return None, arrays
        found.append(a)
    return np.argsort(order).tolist(), found


def _nothing() -> None:
    return None


class InRows(Compiled):
    """The same, with a result that is contiguous, however its inputs lie."""

    def __call__(self, *args: Any, out: Any = None) -> Any:
        result = super().__call__(*args, out=out)
        return result if result is NotImplemented or out is not None else np.asarray(result, order="C")


class Rows(Compiled):
    """The same for functions of rows, which are the last dimension; `arrange` brings arguments into that form."""

    def __init__(
        self,
        name: str,
        trace: Callable[[Sequence[Any]], Any],
        arrange: Any,
        per_row: tuple[int, ...] = (),
        least: int = 1,
    ) -> None:
        super().__init__(name, trace, least)
        self.arrange = arrange
        self.per_row = per_row  # which arguments have one value per row

    def arranged(self, args: Sequence[Any]) -> Sequence[Any] | None:
        found: Sequence[Any] | None = self.arrange(*args)
        for a in found or ():
            if type(a) is ndarray and not a.flags.c_contiguous:
                return None
        return found

    otherwise: Callable[..., Any] | None = None  # for what is no function of rows
    longest = 0  # elements of a row up to which it is for it, however many rows there are

    def __call__(self, *args: Any, out: Any = None) -> Any:
        x = args[0]
        if x.dtype.kind in "biu":
            return NotImplemented
        fits = x.size <= self.largest or (x.ndim and x.shape[-1] <= self.longest)
        arranged = self.arranged(args) if fits else None
        if arranged is None:
            return NotImplemented if self.otherwise is None else self.otherwise(*args)
        return super().__call__(*arranged)


class OneRow(Rows):
    """A function of all elements as one row, whose result is one number. Of long rows only a sum is one: of the sums of blocks."""

    largest = LONG_ROW
    sums: Rows | None = None  # of rows; where it is known how a long one is made of those
    mean = False

    def arranged(self, args: Sequence[Any]) -> Sequence[Any] | None:
        if any(type(a) is not ndarray or a.shape != args[0].shape for a in args):
            return None
        return super().arranged([a.reshape(-1) for a in args])

    def __call__(self, *args: Any, out: Any = None) -> Any:
        x = args[0]
        if type(x) is not ndarray or x.dtype.kind in "biu" or not x.size:
            return NotImplemented
        if x.size <= self.largest:
            return super().__call__(*args)
        if self.sums is None or x.dtype.char not in "fd" or not x.flags.c_contiguous:
            return NotImplemented
        return self._long(x.reshape(-1))

    def _long(self, x: Any) -> Any:
        """In blocks, on several threads: float32 stays accurate."""
        assert self.sums is not None
        whole = x.size - x.size % BLOCK
        sums = self.sums.version((x, (1,), False))
        if sums is None:
            return NotImplemented
        quiet = silence()
        try:
            total = np.add.reduce(sums.function(x[:whole].reshape(-1, BLOCK)))
            if whole < x.size:
                total += np.add.reduce(x[whole:])
        finally:
            restore(quiet)
        return total / x.dtype.type(x.size) if self.mean else total


class Alone:
    """A kernel that is a builtin function alone: a product of small matrices, rows of a small table. `make`: its card, from cards.py."""

    alone = True

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make
        self.card: Any = None
        self.ready: Callable[[], None] = _nothing

    def __call__(self, *args: Any) -> Any:
        return NotImplemented

    def warm(self, *args: Any) -> None:
        """At the first call."""
        with _lock:
            from . import cards, machine

        try:
            if self.card is None and cards.available():
                self.card = self.make(cards)
                self.ready()
        except machine.NoCompiler:
            pass
        if self.card is None:
            registry.withdraw("direct")

    def builtin(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """As in `Compiled`."""
        return None if self.card is None else self.card.called(otherwise)  # type: ignore[no-any-return]


def sum_of_columns(x: Any, ndim: int = 1) -> Any:
    """The sum over all but the last `ndim` dimensions."""
    if type(x) is not ndarray or x.dtype.char not in "fd" or x.ndim <= ndim or not x.flags.c_contiguous:
        return NotImplemented
    with _lock:
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
        scalars = [np.asarray(number, p.dtype) for number in numbers]
        result = self._form(len(kept), len(numbers), how)(p, g, *kept, *scalars, out=(p, *kept))
        return result if result is NotImplemented else None

    def version(self, p: Any, kept: int, numbers: int, how: tuple[str, ...]) -> Version | None:
        """What is compiled for parameters of this type with so much state."""
        return self._form(kept, numbers, how).version([p] * (2 + kept + numbers))

    def _form(self, *form: Any) -> Compiled:
        compiled = self.known.get(form)
        if compiled is None:
            compiled = self.known[form] = Compiled(self.name, lambda args: self._traced(form, args))
            compiled.for_any_size = True
        return compiled

    def _traced(self, form: tuple[Any, ...], args: Sequence[Any]) -> Any:
        from ..trace import tracer

        kept, _, how = form

        def call(xp: Any, p: Any, g: Any, *more: Any) -> Any:
            return self.rule(xp, p, g, more[:kept], more[kept:], how)

        return tracer.trace(call, args)


class Fused(Compiled):
    """A gradient rule: one pass where it can be compiled, the rule itself elsewhere. `ready` as in `Compiled`."""

    def __init__(
        self, name: str, rule: Callable[..., Any], names: Sequence[str], ready: Callable[[], None] = _nothing
    ) -> None:
        super().__init__(name, self._traced)
        self.rule, self.names, self.ready = rule, names, ready
        self.heat = HEAT

    def __call__(self, *args: Any, out: Any = None) -> Any:
        g = args[0]
        if type(g) is ndarray and not any(g.strides) and g.size:  # one number in all places: it stays one
            if not any(type(a) is ndarray and a.ndim for a in args[1:]):
                return np.broadcast_to(self.rule(g[(0,) * g.ndim], *args[1:]), g.shape)
        result = super().__call__(*args)
        return self.rule(*args) if result is NotImplemented else result

    def least_of(self, version: Version) -> int:
        # The rule itself calls compiled functions, too, if those are called on small arrays; but never a compiled power.
        if version.words & ({"pow"} if keeps() else FUNCTIONS_OF_ITS_OWN):
            return GRADIENTS
        return 1

    def _traced(self, args: Sequence[Any]) -> Any:
        from ..trace.tracer import trace_rule

        ops = self.names.index("ops") + 1 if "ops" in self.names else len(args)
        return trace_rule(self.rule, self.names, [*args[:ops], *args[ops + 1 :]])

"""Symbols: arrays without elements, and the namespace `xp` whose functions note what would be computed.

A symbol behaves as NumPy's arrays do where types are concerned (a Python number takes the array's type, a scalar of the
array library keeps its own). Writing in place gives the symbol another term. Whatever asks for values, or for a shape that is
only known at the call, is `Untraceable`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph import COMPARISONS, EACH, FUNCTIONS, ONE, ROW, Book, Term, Untraceable

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
BOOL = np.dtype(np.bool_)


class Extent:
    """A size that is only known at the call."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


MANY, LENGTH = Extent("many"), Extent("length")


class Array:
    """A symbol for an array: `term` is what it holds now."""

    __slots__ = ("book", "kept", "rows", "term")
    __array_ufunc__ = None  # NumPy's scalars leave operators to this class

    def __init__(self, book: Book, term: Term, rows: bool, kept: bool = True) -> None:
        self.book, self.term, self.rows = book, term, rows
        self.kept = kept  # of a value per row: has it the last dimension, with size 1?

    # What it is ----------------------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.term.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        if self.term.space == ONE:
            return ()
        if not self.rows:
            return (MANY,)
        if self.term.space == ROW:
            return (MANY, 1) if self.kept else (MANY,)
        return (MANY, LENGTH)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def real(self) -> Array:
        return self

    def _refuse(self, *_: Any) -> Any:
        raise Untraceable("the values of an array are asked for")

    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = _refuse  # type: ignore[assignment]
    any = all = item = tolist = _refuse
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"an array's {name}")

    # Operators -----------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Array:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Array:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Array:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Array:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Array:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Array:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Array:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return binary("div", other, self)

    def __pow__(self, other: Any) -> Array:
        return power(self, other)

    def __neg__(self) -> Array:
        return unary("neg", self)

    def __pos__(self) -> Array:
        return self.copy()

    def __abs__(self) -> Array:
        return unary("abs", self)

    def __invert__(self) -> Array:
        return logic("not", self)

    def __and__(self, other: Any) -> Array:
        return logic("and", self, other)

    def __or__(self, other: Any) -> Array:
        return logic("or", self, other)

    def __xor__(self, other: Any) -> Array:
        return logic("xor", self, other)

    def __lt__(self, other: Any) -> Array:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Array:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Array:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Array:
        return compare("ge", self, other)

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return compare("eq", self, other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]
        return compare("ne", self, other)

    def _became(self, result: Array) -> Array:
        """Written in place: the type stays, and so does the shape."""
        if self.term.space != result.term.space and result.term.space > self.term.space:
            raise Untraceable("written in place with more elements than there are")
        if self.dtype.kind != result.dtype.kind:
            raise Untraceable("written in place with another kind of number")
        self.term = self.book.cast(result.term, self.dtype)
        return self

    def __iadd__(self, other: Any) -> Array:
        return self._became(binary("add", self, other))

    def __isub__(self, other: Any) -> Array:
        return self._became(binary("sub", self, other))

    def __imul__(self, other: Any) -> Array:
        return self._became(binary("mul", self, other))

    def __itruediv__(self, other: Any) -> Array:
        return self._became(binary("div", self, other))

    # Methods -------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, copy: bool = True) -> Array:
        dtype = np.dtype(dtype)
        if dtype not in FLOATS and dtype != BOOL:
            raise Untraceable(f"a cast to {dtype}")
        return Array(self.book, self.book.cast(self.term, dtype), self.rows, self.kept)

    def copy(self) -> Array:
        return Array(self.book, self.term, self.rows, self.kept)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Array:
        return reduce("sum", self, axis, keepdims)

    def reshape(self, *shape: Any) -> Array:
        """Only to the shape it has; a value per row gets its dimension back."""
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        if shape == self.shape:
            return self.copy()
        if self.term.space == ROW and shape == (-1, 1):
            return Array(self.book, self.term, self.rows, True)
        raise Untraceable("another shape")

    def squeeze(self, axis: int) -> Array:
        """A value per row without its dimension."""
        if self.term.space != ROW or not self.kept or axis not in (1, -1):
            raise Untraceable("another shape")
        return Array(self.book, self.term, self.rows, False)

    def __getitem__(self, index: Any) -> Array:
        row = self.term.space == ROW and not self.kept
        if row and index in ((Ellipsis, None), (slice(None), None)):
            return Array(self.book, self.term, self.rows, True)
        if index is Ellipsis:
            return self
        raise Untraceable("a part of an array")


def one_book(*values: Any) -> Array:
    """The first symbol among operands."""
    for value in values:
        if isinstance(value, Array):
            return value
    raise Untraceable("no array among the operands")


def _together(*values: Any) -> tuple[Array, list[Term], np.dtype[Any], bool]:
    """Operands as terms of their common type, as NumPy promotes them; and whether a value per row has its dimension."""
    host = one_book(*values)
    strong = [v.dtype for v in values if isinstance(v, (Array, np.generic, np.ndarray))]
    common = np.result_type(*strong)
    if any(isinstance(v, float) for v in values) and common.kind in "biu":
        common = np.dtype(np.float64)
    for v in values:
        if isinstance(v, int) and not isinstance(v, bool) and common.kind == "b":
            common = np.dtype(np.int64)
    shapes = {v.shape for v in values if isinstance(v, Array) and v.term.space != ONE}
    if len({len(shape) for shape in shapes}) > 1:
        raise Untraceable("arrays of different numbers of dimensions")
    kept = all(v.kept for v in values if isinstance(v, Array) and v.term.space == ROW)
    terms: list[Term] = []
    for v in values:
        if isinstance(v, Array):
            terms.append(host.book.cast(v.term, common))
        elif isinstance(v, (bool, int, float, np.generic)) or (isinstance(v, np.ndarray) and v.ndim == 0):
            terms.append(host.book.constant(v if isinstance(v, (bool, int, float)) else v.item(), common))
        else:
            raise Untraceable(f"an operand that is {type(v).__name__}")
    return host, terms, common, kept


def _float_terms(*values: Any) -> tuple[Array, list[Term], np.dtype[Any], bool]:
    host, terms, common, kept = _together(*values)
    if common not in FLOATS:
        raise Untraceable(f"arithmetic of {common}")
    return host, terms, common, kept


def binary(operation: str, a: Any, b: Any) -> Array:
    host, terms, common, kept = _float_terms(a, b)
    return Array(host.book, host.book.term(operation, *terms, dtype=common), host.rows, kept)


def unary(operation: str, a: Any) -> Array:
    host, terms, common, kept = _float_terms(a)
    return Array(host.book, host.book.term(operation, *terms, dtype=common), host.rows, kept)


def compare(operation: str, a: Any, b: Any) -> Array:
    host, terms, common, kept = _together(a, b)
    if common not in FLOATS and common.kind not in "biu":
        raise Untraceable(f"a comparison of {common}")
    return Array(host.book, host.book.term(operation, *terms, dtype=BOOL), host.rows, kept)


def logic(operation: str, *values: Any) -> Array:
    host, terms, common, kept = _together(*values)
    if common != BOOL:
        raise Untraceable(f"logic of {common}")
    return Array(host.book, host.book.term(operation, *terms, dtype=BOOL), host.rows, kept)


def where(condition: Any, yes: Any, no: Any) -> Array:
    host, terms, common, kept = _together(yes, no) if _any_array(yes, no) else _together(yes, no, condition)
    if not isinstance(condition, Array) or condition.dtype != BOOL:
        raise Untraceable("a condition that is no array of booleans")
    result = host.book.term("where", condition.term, terms[0], terms[1], dtype=common)
    return Array(host.book, result, host.rows, kept and condition.kept)


def _any_array(*values: Any) -> bool:
    return any(isinstance(v, Array) for v in values)


def power(a: Any, b: Any) -> Array:
    """The usual whole exponents are products; others a function of two numbers."""
    if isinstance(a, Array) and isinstance(b, (int, float)):
        if b == 2:
            return binary("mul", a, a)
        if b == 1:
            return a.copy()
        if b == 0.5:
            return unary("sqrt", a)
        if b == -1:
            return binary("div", 1, a)
    return binary("pow", a, b)


def reduce(operation: str, a: Any, axis: Any, keepdims: bool = False) -> Array:
    """Over the last dimension of rows."""
    if not isinstance(a, Array) or not a.rows or a.term.space != EACH:
        raise Untraceable("a reduction of what is no row")
    if axis not in (-1, 1, (1,), (-1,)):
        raise Untraceable("a reduction over other than the last dimension")
    if a.dtype not in FLOATS:
        raise Untraceable(f"a reduction of {a.dtype}")
    return Array(a.book, a.book.term(operation, a.term, dtype=a.dtype, space=ROW), True, bool(keepdims))


def _take_along_axis(a: Array, index: Array, axis: int) -> Array:
    """The element of each row whose number stands in `index`, one per row."""
    if (
        a.term.operation != "input"
        or not a.rows
        or a.term.space != EACH
        or index.term.space != ROW
        or axis not in (1, -1)
    ):
        raise Untraceable("elements by their numbers")
    return Array(a.book, a.book.term("pick", a.term, index.term, dtype=a.dtype, space=ROW), True, True)


def _mean(a: Array, axis: Any = None, keepdims: bool = False) -> Array:
    total = reduce("sum", a, axis, keepdims)
    length = a.book.term("length", dtype=a.dtype, space=ONE)
    return Array(a.book, a.book.term("div", total.term, length, dtype=a.dtype), True, total.kept)


def _clip(x: Any, low: Any = None, high: Any = None) -> Array:
    if low is not None:
        x = binary("maximum", x, low)
    return x if high is None else binary("minimum", x, high)


def _sign(x: Array) -> Array:
    zero = compare("eq", x, 0)
    nan = compare("ne", x, x)
    return where(zero, 0.0, where(nan, x, binary("copysign", 1.0, x)))


# The functions of the namespace by NumPy's names.
_FUNCTIONS: dict[str, Callable[..., Array]] = {
    **{name: (lambda x, name=name: unary(name, x)) for name in FUNCTIONS},
    "negative": lambda x: unary("neg", x),
    "copy": lambda x: x.copy(),
    "absolute": lambda x: unary("abs", x),
    "fabs": lambda x: unary("abs", x),
    "square": lambda x: binary("mul", x, x),
    "reciprocal": lambda x: binary("div", 1, x),
    "add": lambda a, b: binary("add", a, b),
    "subtract": lambda a, b: binary("sub", a, b),
    "multiply": lambda a, b: binary("mul", a, b),
    "divide": lambda a, b: binary("div", a, b),
    "true_divide": lambda a, b: binary("div", a, b),
    "minimum": lambda a, b: binary("minimum", a, b),
    "maximum": lambda a, b: binary("maximum", a, b),
    "copysign": lambda a, b: binary("copysign", a, b),
    "power": power,
    "less": lambda a, b: compare("lt", a, b),
    "less_equal": lambda a, b: compare("le", a, b),
    "greater": lambda a, b: compare("gt", a, b),
    "greater_equal": lambda a, b: compare("ge", a, b),
    "equal": lambda a, b: compare("eq", a, b),
    "not_equal": lambda a, b: compare("ne", a, b),
    "logical_and": lambda a, b: logic("and", a, b),
    "logical_or": lambda a, b: logic("or", a, b),
    "logical_xor": lambda a, b: logic("xor", a, b),
    "logical_not": lambda a: logic("not", a),
    "isnan": lambda x: compare("ne", x, x),
    "isinf": lambda x: compare("eq", unary("abs", x), math.inf),
    "isfinite": lambda x: compare("lt", unary("abs", x), math.inf),
    "sign": _sign,
    "clip": _clip,
    "where": where,
    "sum": lambda x, axis=None, keepdims=False: reduce("sum", x, axis, keepdims),
    "prod": lambda x, axis=None, keepdims=False: reduce("prod", x, axis, keepdims),
    "max": lambda x, axis=None, keepdims=False: reduce("max", x, axis, keepdims),
    "min": lambda x, axis=None, keepdims=False: reduce("min", x, axis, keepdims),
    "mean": _mean,
    "take_along_axis": _take_along_axis,
    "vecdot": lambda a, b: reduce("sum", binary("mul", a, b), -1),
}
assert not COMPARISONS & set(_FUNCTIONS)


class Namespace:
    """`xp` for symbols."""

    ndarray = Array
    float32, float64, bool, bool_ = np.dtype(np.float32), np.dtype(np.float64), np.bool_, np.bool_
    inf, nan, pi, newaxis = math.inf, math.nan, math.pi, None

    symbolic = True  # nobody can ask for values

    def __init__(self, book: Book) -> None:
        self.book = book

    def __getattr__(self, name: str) -> Any:
        function = _FUNCTIONS.get(name)
        if function is None:
            raise Untraceable(f"the array library's {name}")
        return _Writing(function)

    def asarray(self, value: Any, dtype: Any = None) -> Array:
        """A symbol as it is, a number as a constant."""
        if isinstance(value, Array):
            return value if dtype is None else value.astype(dtype)
        if dtype is None or not isinstance(value, (bool, int, float, np.generic)):
            raise Untraceable("an array made of something else")
        return Array(self.book, self.book.constant(value, dtype), False)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Array:
        """A number without dimensions."""
        if shape != ():
            raise Untraceable("a new array")
        return self.asarray(0.0, dtype)

    def zeros_like(self, x: Array) -> Array:
        """Nothing but zeros: their number is that of the result's elements."""
        return binary("mul", 0.0, where(compare("eq", x, x), 1.0, 1.0).astype(x.dtype))


class _Writing:
    """A function that may be told where to write its result."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Array]) -> None:
        self.function = function

    def __call__(self, *args: Any, out: Any = None, **options: Any) -> Array:
        if (
            out is None
            and args
            and len(args) > self.function.__code__.co_argcount - len(self.function.__defaults__ or ())
        ):
            extra = args[-1]
            if isinstance(extra, Array) and not self.function.__defaults__:
                args, out = args[:-1], extra  # NumPy's functions take `out` by position, too
        result = self.function(*args, **options)
        return result if out is None else out._became(result)

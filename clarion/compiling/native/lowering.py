"""Steps as native operations: portable kernels run once more, on arrays that have a place and no values.

`Lowered` arrays know buffer, shape, strides and type. Each of NumPy's functions on them becomes an operation of the native program:
an element-by-element step (`Each`), a reduction over the last dimension (`Along`), a matrix product (`Product`). What cannot be said
so (a kernel that looks at values, sorts, or draws) is `Untraceable`, and stays a call of Python.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.trace.graph import COMPARISONS, Untraceable
from ..recording import Step
from .memory import Buffer, View, dense_strides, reshaped_strides

F32, F64, BOOL = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.bool_)
TYPES = (F32, F64, BOOL)


class Each(NamedTuple):
    """`out = word(*operands)`, element by element; operands are views (broadcast to out's shape) or numbers."""

    word: str
    operands: tuple[Any, ...]
    out: View
    place: Any


class Along(NamedTuple):
    """`out = word(operand)` over the last dimension, which out has with size 1."""

    word: str
    operand: View
    out: View
    place: Any


class Product(NamedTuple):
    """`out = x @ y`, matrix by matrix."""

    x: View
    y: View
    out: View
    place: Any


class Copy(NamedTuple):
    """`out = x`, where elements lie apart: one by one."""

    x: View
    out: View
    place: Any


class Match(NamedTuple):
    """`out = x == number`, of whole numbers; without a number: of each the one among 0, 1, …, along out's last dimension."""

    x: View
    number: int | None
    out: View
    place: Any


class Bounds(NamedTuple):
    """Whole numbers that must lie below a limit, or be `but`: looked at before the program runs."""

    x: View
    limit: int
    but: int | None


class Call(NamedTuple):
    """A step that Python does."""

    step: Step
    place: Any


class Storage:
    """Memory that several arrays may share. A write to all of it goes to a new buffer, where it is the program's own."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer


class Lowered:
    """An array of the native program."""

    __slots__ = ("builder", "dtype", "offset", "shape", "storage", "strides")
    __array_ufunc__ = None

    def __init__(
        self, builder: Builder, storage: Storage, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
    ) -> None:
        self.builder, self.storage, self.shape, self.dtype = builder, storage, tuple(shape), np.dtype(dtype)
        self.strides = dense_strides(self.shape, self.dtype.itemsize) if strides is None else tuple(strides)
        self.offset = offset

    # What it is ----------------------------------------------------------------------------------------

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    base = None
    real = property(lambda self: self)
    T = property(lambda self: self.transpose())

    @property
    def flags(self) -> Any:
        """(Kernels that ask go other ways for contiguous arrays, through BLAS: here all go the same, and are joined to loops.)"""
        return _Flags(False, False)

    def __len__(self) -> int:
        return self.shape[0]

    def view(self, dtype: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype) != self.dtype:
            raise Untraceable("another type of the same memory")
        return View(self.storage.buffer, self.offset, self.shape, self.strides, self.dtype)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Untraceable("the values of an array are asked for")

    __bool__ = __float__ = __int__ = __index__ = __iter__ = item = tolist = any = all = _refuse
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"an array's {name}")

    # Views ---------------------------------------------------------------------------------------------

    def _seen(self, shape: Any, strides: Any, offset: int = 0) -> Lowered:
        return Lowered(self.builder, self.storage, shape, self.dtype, strides, self.offset + offset)

    def seen_anew(self, shape: Any, strides: Any, offset: int) -> Lowered:
        """The same memory with other strides (kernels/layout.py): only what lies within it."""
        last = self.offset + offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if any(s < 0 for s in strides) or (0 not in shape and last + self.itemsize > self.storage.buffer.size):
            raise Untraceable("memory beyond the array")
        return self._seen(shape, strides, offset)

    def transpose(self, *axes: Any) -> Lowered:
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        order = tuple(reversed(range(self.ndim))) if not order or order == (None,) else [a % self.ndim for a in order]
        return self._seen([self.shape[a] for a in order], [self.strides[a] for a in order])

    def swapaxes(self, a: int, b: int) -> Lowered:
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(*order)

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> Lowered:
        wanted = list(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        known = math.prod(n for n in wanted if n != -1)
        wanted = tuple([self.size // known if n == -1 else int(n) for n in wanted])
        if math.prod(wanted) != self.size or order != "C":
            raise Untraceable("another shape")
        strides = reshaped_strides(self.shape, self.strides, wanted, self.itemsize)
        return self.copy().reshape(wanted) if strides is None else self._seen(wanted, strides)

    def ravel(self) -> Lowered:
        return self.reshape(-1)

    def flatten(self) -> Lowered:
        return self.copy().reshape(-1)

    def squeeze(self, axis: Any = None) -> Lowered:
        gone = (
            [i for i, n in enumerate(self.shape) if n == 1]
            if axis is None
            else [axis]
            if isinstance(axis, int)
            else list(axis)
        )
        gone = [a % self.ndim for a in gone]
        kept = [i for i in range(self.ndim) if i not in gone]
        return self._seen([self.shape[i] for i in kept], [self.strides[i] for i in kept])

    def __getitem__(self, index: Any) -> Lowered:
        parts = index if type(index) is tuple else (index,)
        if any(not (isinstance(p, (int, slice)) or p is None or p is Ellipsis) or isinstance(p, bool) for p in parts):
            raise Untraceable("an array as an index")
        looks = np.lib.stride_tricks.as_strided(np.zeros(1, np.dtype(f"V{self.itemsize}")), self.shape, self.strides)
        found = looks[(*parts, ...)] if Ellipsis not in parts else looks[index]
        start = found.__array_interface__["data"][0] - looks.__array_interface__["data"][0] if self.size else 0
        return self._seen(found.shape, found.strides, start)

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index].assign(value)

    # Copies and writes ---------------------------------------------------------------------------------

    def assign(self, value: Any) -> Lowered:
        """Write into it."""
        return self.builder.each("copy", (value,), self.dtype, out=self)

    def astype(self, dtype: Any, copy: bool = True, **_: Any) -> Lowered:
        kind = np.dtype(dtype)
        if kind == self.dtype and not copy:
            return self
        return self.builder.each("copy", (self,), kind)

    def copy(self, order: str = "C") -> Lowered:
        return self.builder.each("copy", (self,), self.dtype)

    def fill(self, value: Any) -> None:
        self.assign(value)

    # Reductions and products -----------------------------------------------------------------------------

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Lowered:
        return self.builder.reduce("sum", self, axis, keepdims)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Lowered:
        return self.builder.reduce("max", self, axis, keepdims)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Lowered:
        return self.builder.reduce("min", self, axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Lowered:
        total = self.builder.reduce("sum", self, axis, keepdims)
        return total / (self.size // max(total.size, 1))

    def clip(self, low: Any = None, high: Any = None, out: Any = None) -> Lowered:
        x = self if low is None else self.builder.arithmetic("maximum", self, low)
        return x if high is None else self.builder.arithmetic("minimum", x, high)

    def dot(self, other: Lowered) -> Lowered:
        return self.builder.dot(self, other)


class _Flags(NamedTuple):
    c_contiguous: bool
    f_contiguous: bool
    writeable: bool = True


_LONGEST = 4096  # elements of a single row that are reduced at once; a longer one is cut into equal pieces, for threads to share
_WORDS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div"}
for _name, _word in _WORDS.items():
    setattr(Lowered, f"__{_name}__", lambda self, other, w=_word: self.builder.arithmetic(w, self, other))
    setattr(Lowered, f"__r{_name}__", lambda self, other, w=_word: self.builder.arithmetic(w, other, self))
    setattr(Lowered, f"__i{_name}__", lambda self, other, w=_word: self.builder.arithmetic(w, self, other, out=self))
for _word in COMPARISONS:
    setattr(Lowered, f"__{_word}__", lambda self, other, w=_word: self.builder.arithmetic(w, self, other))
for _name, _word in {"neg": "neg", "abs": "abs", "invert": "not"}.items():
    setattr(Lowered, f"__{_name}__", lambda self, w=_word: self.builder.arithmetic(w, self))
for _word in ("and", "or", "xor"):
    setattr(Lowered, f"__{_word}__", lambda self, other, w=_word: self.builder.arithmetic(w, self, other))
Lowered.__pow__ = lambda self, other: self.builder.power(self, other)  # type: ignore[attr-defined]


class Builder:
    """Collects the operations of a native program."""

    def __init__(self) -> None:
        self.operations: list[Any] = []
        self.place: Any = None
        self.undo: list[tuple[Storage, Buffer]] = []
        self.constants: dict[int, tuple[Any, Lowered]] = {}
        self.bounds: list[Bounds] = []

    # Arrays --------------------------------------------------------------------------------------------

    def new(self, shape: Any, dtype: Any) -> Lowered:
        """An array of the program's own."""
        kind = np.dtype(dtype)
        if kind not in TYPES:
            raise Untraceable(f"an array of {kind}")
        return Lowered(self, Storage(Buffer(math.prod(shape) * kind.itemsize)), shape, kind)

    def of(self, array: Any, source: Any) -> Lowered:
        """An array that is given; `source` says how it is found at each call."""
        return Lowered(self, Storage(Buffer(array.nbytes, source)), array.shape, array.dtype, array.strides)

    def constant(self, array: Any) -> Lowered:
        """An array of NumPy's that stands in a step."""
        if id(array) not in self.constants:
            self.constants[id(array)] = (array, self.of(array, ("constant", array)))
        return self.constants[id(array)][1]

    # Operations -----------------------------------------------------------------------------------------

    def _operand(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.constant(value) if value.ndim else value[()]
        return value

    def arithmetic(self, word: str, *operands: Any, out: Any = None) -> Any:
        """An elementwise function, with NumPy's promotion."""
        values = [self._operand(each) for each in operands]
        arrays = [v for v in values if isinstance(v, (Lowered, np.generic))]
        if not arrays:
            raise Untraceable("no array among the operands")
        common = np.result_type(*[v.dtype for v in arrays])
        if common.kind in "biu" and any(isinstance(v, float) for v in values):
            common = F64
        if common.kind == "b" and any(type(v) is int for v in values):
            raise Untraceable("a number and a mask")
        logic = word in ("and", "or", "xor", "not")
        if (common not in (F32, F64) and not logic and word not in COMPARISONS) or (logic and common != BOOL):
            raise Untraceable(f"{word} of {common}")
        if common not in TYPES:
            raise Untraceable(f"{word} of {common}")
        kind = BOOL if word in COMPARISONS or logic else common
        return self.each(word, tuple(values), kind, common, out)

    def each(self, word: str, operands: tuple[Any, ...], kind: Any, common: Any = None, out: Any = None) -> Any:
        """Emit an elementwise operation; operands are computed with in the type `common`."""
        values = [self._operand(each) for each in operands]
        shape = np.broadcast_shapes(*[v.shape for v in values if isinstance(v, Lowered)])
        if out is None:
            out = self.new(shape, kind)
        elif (
            not isinstance(out, Lowered) or np.broadcast_shapes(out.shape, shape) != out.shape or out.dtype not in TYPES
        ):
            raise Untraceable("a result that does not fit")
        parts = [v.view().spread(out.shape) if isinstance(v, Lowered) else v for v in values]
        if any(isinstance(part, View) and part.dtype not in TYPES for part in parts):
            raise Untraceable("an array of whole numbers")
        self._write_anew(out)
        self.operations.append(Each(word, (common, *parts), out.view(), self.place))
        return out

    def _write_anew(self, out: Lowered) -> None:
        """All of an own buffer is written to a new one: what is computed of the old one need not come before."""
        storage, old = out.storage, out.storage.buffer
        if old.source is not None and old.source[0] == "constant":
            raise Untraceable("a constant is written to")
        if old.source is None and out.offset == 0 and out.nbytes == old.size and out.view().dense:
            self.undo.append((storage, old))
            storage.buffer = Buffer(old.size)

    def matches(self, x: Lowered, number: int | None, shape: Any) -> Lowered:
        """A mask of where whole numbers are equal to one, or to their place along the last dimension."""
        out = self.new(shape, BOOL)
        self.operations.append(Match(x.view(), number, out.view(), self.place))
        return out

    def bounded(self, x: Lowered, limit: int, but: int | None) -> None:
        """Whole numbers that are given must be in bounds."""
        source = x.storage.buffer.source
        if source is None or source[0] != "input":
            raise Untraceable("whole numbers that are not given")
        self.bounds.append(Bounds(x.view(), limit, but))

    def reduce(self, word: str, x: Any, axis: Any, keepdims: bool = False) -> Lowered:
        """Over dimensions: brought to the end, and made one."""
        if not isinstance(x, Lowered) or x.dtype not in (F32, F64):
            raise Untraceable("a reduction of other than floating-point numbers")
        axes = range(x.ndim) if axis is None else [a % x.ndim for a in ((axis,) if isinstance(axis, int) else axis)]
        gone = sorted(set(axes))
        kept = [i for i in range(x.ndim) if i not in gone]
        if not x.size:
            raise Untraceable("nothing to reduce")
        if gone and kept and gone[-1] < kept[0] and len(kept) >= 1 and word == "sum" and x.view().dense:
            return self._columns(x, gone, kept, keepdims)
        moved = x.transpose(*kept, *gone) if x.ndim else x
        rows = [x.shape[i] for i in kept]
        inner = math.prod(x.shape[i] for i in gone)
        if inner == 1:
            shape = tuple([1 if i in gone else n for i, n in enumerate(x.shape)]) if keepdims else tuple(rows)
            return x.reshape(shape).copy()
        if math.prod(rows) == 1 and inner > _LONGEST:
            moved, inner = self.reduce(word, moved.reshape(pieces := _pieces(inner), -1), 1), pieces
        flat = moved.reshape(*rows, inner)
        if flat.strides[-1] != flat.itemsize:
            flat = flat.copy()
        out = self.new((*rows, 1), x.dtype)
        self.operations.append(Along(word, flat.view(), out.view(), self.place))
        return out.reshape(tuple([1 if i in gone else n for i, n in enumerate(x.shape)]) if keepdims else tuple(rows))

    def _columns(self, x: Lowered, gone: list[int], kept: list[int], keepdims: bool) -> Lowered:
        """A sum over the first dimensions: a product with a row of ones."""
        rows = math.prod(x.shape[i] for i in gone)
        flat = x.reshape(rows, -1)
        ones = self.constant(_ones(rows, x.dtype))
        out = self.product(ones, flat)
        shape = (
            tuple([1 if i in gone else n for i, n in enumerate(x.shape)])
            if keepdims
            else tuple(x.shape[i] for i in kept)
        )
        return out.reshape(shape)

    def product(self, x: Any, y: Any) -> Lowered:
        """Matrices, with leading dimensions that broadcast."""
        x, y = self._operand(x), self._operand(y)
        if not (isinstance(x, Lowered) and isinstance(y, Lowered)) or x.dtype != y.dtype or x.dtype not in (F32, F64):
            raise Untraceable("a product of other than floating-point matrices")
        if x.ndim < 2 or y.ndim < 2 or not x.size or not y.size:
            raise Untraceable("a product with a vector")
        lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x, y = (
            Lowered(
                self,
                a.storage,
                (*lead, *a.shape[-2:]),
                a.dtype,
                a.view().spread((*lead, *a.shape[-2:])).strides,
                a.offset,
            )
            for a in (x, y)
        )
        out = self.new((*lead, x.shape[-2], y.shape[-1]), x.dtype)
        self.operations.append(Product(x.view(), y.view(), out.view(), self.place))
        return out

    def dot(self, x: Any, y: Any) -> Lowered:
        """NumPy's dot of vectors and matrices."""
        x, y = self._operand(x), self._operand(y)
        if x.ndim == 1 and y.ndim == 1:
            return self.reduce("sum", self.arithmetic("mul", x, y), None)
        if x.ndim == 2 and y.ndim == 1:
            return self.product(x, y.reshape(-1, 1)).reshape(x.shape[0])
        if x.ndim == 1 and y.ndim == 2:
            return self.product(x.reshape(1, -1), y).reshape(y.shape[1])
        if x.ndim == 2 and y.ndim == 2:
            return self.product(x, y)
        raise Untraceable("a product of many dimensions")

    def power(self, a: Any, b: Any) -> Any:
        """The usual whole exponents are products."""
        if isinstance(b, (int, float)) and not isinstance(b, bool):
            simple = {2: lambda: a * a, 1: lambda: a.copy(), -1: lambda: 1 / a, 3: lambda: a * a * a}
            if b in simple:
                return simple[b]()
            if b == 0.5:
                return self.arithmetic("sqrt", a)
        return self.arithmetic("pow", a, b)


def _pieces(length: int) -> int:
    """Into how many equal pieces a long row is cut: as few as can be, since what is left of them is a row, too."""
    for pieces in range(-(-length // _LONGEST), _LONGEST + 1):
        if length % pieces == 0:
            return pieces
    raise Untraceable("the reduction of one long row that has no equal pieces")


_kept_ones: dict[Any, Any] = {}


def _ones(rows: int, dtype: Any) -> Any:
    return _kept_ones.setdefault((rows, dtype), np.ones((1, rows), dtype))

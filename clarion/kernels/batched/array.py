"""The array of a batch that nobody sees: it looks like one sample, and holds all of them.

`data` has the samples along its first dimension; where all samples are the same (`varies` is False) it is that one. Arrays nest:
the data of an inner level may be arrays of an outer one, for which the inner level's samples are ordinary values. An array that is
of no level, or of an outer one only, is the same for all samples of a level, too.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from ...errors import EngineError
from ..layout import ARRAYS, LAYS_OUT, laid_out, memory_root, strided
from .levels import Level, Mapped, fallback, refuse_dynamic, refuse_write

ALL = slice(None)
Function = Callable[..., Any]

_NO_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to "
    "rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, please file a bug "
    "report."
)
_NO_CONDITION = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please "
    "file an issue at https://github.com/pytorch/pytorch/issues ."
)
_NO_VALUES = (
    "Cannot access data pointer of Tensor that doesn't have storage\nInside vmap a tensor stands for all samples at once: its "
    "values cannot be read by Python or NumPy."
)


class Batched(Mapped):
    """One sample's shape, strides and type, and the values of all samples."""

    __slots__ = ("__weakref__", "data", "level", "place", "varies")

    __array_priority__ = 4000

    def __init__(self, data: Any, level: Level, varies: bool, place: int = 0) -> None:
        self.data, self.level, self.varies = data, level, varies
        self.place = place  # of the samples among the dimensions of what it was made of

    # What is known of it --------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """One sample's."""
        return self.data.shape[1:] if self.varies else self.data.shape  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        """One sample's."""
        return self.data.strides[1:] if self.varies else self.data.strides  # type: ignore[no-any-return]

    dtype = property(lambda self: self.data.dtype)
    itemsize = property(lambda self: self.data.dtype.itemsize)
    ndim = property(lambda self: self.data.ndim - self.varies)
    nbytes = property(lambda self: self.size * self.data.dtype.itemsize)
    base = property(lambda self: memory_root(self.data))

    @property
    def size(self) -> int:
        """Elements of one sample."""
        n = 1
        for each in self.shape:
            n *= each
        return n

    @property
    def flags(self) -> Any:
        """One sample's."""
        if not self.varies:
            return self.data.flags
        return (self.data[0, ...] if len(self.data) else numpy.empty(self.shape, self.dtype)).flags

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Batched(level={self.level.serial}, batch={self.level.size}, varies={self.varies}, data={self.data!r})"

    # Values that nobody can read --------------------------------------------------------------------

    def item(self, *_: Any) -> Any:
        """Refused: there is one for each sample."""
        raise EngineError(_NO_ITEM)

    def tolist(self, *_: Any, **__: Any) -> Any:
        """Refused: there are some for each sample."""
        raise EngineError(_NO_VALUES)

    def __bool__(self) -> bool:
        raise EngineError(_NO_CONDITION)

    tobytes = __array__ = tolist
    __int__ = __float__ = __complex__ = __index__ = item
    __hash__ = object.__hash__

    # Views ---------------------------------------------------------------------------------------------

    def like(self, data: Any) -> Batched:
        """Other data of the same samples."""
        return Batched(data, self.level, self.varies)

    def physical(self, axis: int) -> int:
        """A sample's dimension among those of the data."""
        return axis + 1 if self.varies and axis >= 0 else axis

    def view(self, dtype: Any = None) -> Batched:
        """The same memory, as another type."""
        if dtype is None or self.ndim:
            return self.like(self.data.view() if dtype is None else self.data.view(dtype))
        return self.like(self.data[..., None].view(dtype)[..., 0])

    def reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> Batched:
        """Another shape of as many elements."""
        wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if not self.varies:
            return self.like(self.data.reshape(wanted, order=order, copy=copy))
        if -1 in wanted:
            known = 1
            for n in wanted:
                known *= n if n != -1 else 1
            wanted = [n if n != -1 else self.size // known for n in wanted]
        return self.like(self.data.reshape((self.level.size, *wanted), order=order, copy=copy))

    def transpose(self, *axes: Any) -> Batched:
        """Dimensions in another order."""
        if not self.varies:
            return self.like(self.data.transpose(*axes))
        wanted = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        wanted = range(self.ndim)[::-1] if wanted is None or not len(axes) else wanted
        return self.like(self.data.transpose((0, *[d % self.ndim + 1 for d in wanted])))

    def swapaxes(self, a: int, b: int) -> Batched:
        """Two dimensions exchanged."""
        return self.like(self.data.swapaxes(self.physical(a), self.physical(b)))

    def squeeze(self, axis: Any = None) -> Batched:
        """Without dimensions of size 1."""
        if axis is None:
            axis = tuple([d for d, n in enumerate(self.shape) if n == 1])
        axes = (axis,) if isinstance(axis, int) else axis
        return self.like(self.data.squeeze(tuple([self.physical(d) for d in axes])))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Batched:
        """The diagonal of two dimensions, as the last one."""
        found = self.data.diagonal(offset, self.physical(axis1), self.physical(axis2))
        if type(found) is numpy.ndarray and self.data.flags.writeable:
            found.flags.writeable = True  # (NumPy hands it out read-only)
        return self.like(found)

    def ravel(self, order: str = "C") -> Batched:
        """One dimension."""
        return self.reshape(self.size)

    def flatten(self, order: str = "C") -> Batched:
        """One dimension, copied."""
        return self.reshape(self.size).copy()

    def __matmul__(self, other: Any) -> Any:
        from .products import product_of_batches

        return product_of_batches(self, other) if self.ndim > 1 and other.ndim > 1 else self.dot(other)

    def __rmatmul__(self, other: Any) -> Any:
        from .products import product, product_of_batches

        return product_of_batches(other, self) if self.ndim > 1 and other.ndim > 1 else product(other, self)

    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.swapaxes(-1, -2))
    real = property(lambda self: self.like(self.data.real), lambda self, value: over(self.real, value))
    imag = property(lambda self: self.like(self.data.imag), lambda self, value: over(self.imag, value))

    def __getitem__(self, index: Any) -> Any:
        parts = index if type(index) is tuple else (index,)
        if not all(part is None or part is Ellipsis or isinstance(part, (int, slice, numpy.integer)) for part in parts):
            return one_by_one(operator.getitem, (self, index))
        if any(type(part) is bool for part in parts):
            return one_by_one(operator.getitem, (self, index))
        if Ellipsis not in parts:
            parts = (*parts, Ellipsis)  # one element, too, is an array
        return self.like(self.data[(ALL, *parts) if self.varies else parts])

    def __setitem__(self, index: Any, value: Any) -> None:
        parts = index if type(index) is tuple else (index,)
        simple = all(
            part is None
            or part is Ellipsis
            or (isinstance(part, (int, slice, numpy.integer)) and type(part) is not bool)
            for part in parts
        )
        if simple:
            over(self[index], value)
        else:
            level = deepest((self, index, value))
            if level is not self.level or not self.varies:
                refuse_write("index_put_")
            for i in range(level.size):
                self.data[i, ...][sample(index, level, i)] = sample(value, level, i)

    # Copies ----------------------------------------------------------------------------------------------

    def astype(self, dtype: Any, order: str = "K", copy: bool = True, **_: Any) -> Batched:
        """The elements as another type."""
        return self.like(self.data.astype(dtype, copy=copy))

    def copy(self, order: str = "C") -> Batched:
        """The same anew."""
        return self.like(self.data.copy(order))

    def laid_out(self, layout: tuple[Any, ...]) -> Batched:
        """A copy whose samples lie in memory as `layout` says."""
        shape, strides, _ = layout
        if not self.varies:
            return self.like(laid_out(self.data, layout))
        extent = (
            self.itemsize + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
            if self.size
            else self.itemsize
        )
        return self.like(laid_out(self.data, ((self.level.size, *shape), (extent, *strides), self.dtype)))

    def __deepcopy__(self, memo: Any) -> Batched:
        return self.copy("K")

    def fill(self, value: Any) -> None:
        """One value everywhere."""
        over(self, value)

    def conj(self) -> Batched:
        """Complex conjugates."""
        return self.like(self.data.conj())

    conjugate = conj

    # Reductions --------------------------------------------------------------------------------------------

    def dot(self, other: Any) -> Any:
        """The product of vectors and matrices."""
        from .products import product

        return product(self, other)

    # NumPy's functions ---------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if method == "__call__" and ufunc is not numpy.matmul:
            result = broadcast(ufunc, inputs, options)
        else:
            result = one_by_one(getattr(ufunc, method), inputs, options)
        if out is None:
            return result
        over(out[0] if type(out) is tuple else out, result)
        return out[0] if type(out) is tuple else out

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .namespace import xp

        own = getattr(xp, function.__name__, None)
        return own(*args, **kwargs) if own is not None else one_by_one(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """NumPy's other methods, sample by sample."""
        if name.startswith("_") or not callable(getattr(numpy.ndarray, name, None)):
            raise AttributeError(name)
        return functools.partial(_method, name, self)


def _method(name: str, x: Batched, *args: Any, **options: Any) -> Any:
    return one_by_one(lambda each, *more, **named: getattr(each, name)(*more, **named), (x, *args), options)


# How functions are run on all samples ---------------------------------------------------------------------


def arrays_in(values: Any) -> Iterator[Any]:
    """All arrays among arguments, in lists and tuples too."""
    for value in values:
        if type(value) is tuple or type(value) is list:
            yield from arrays_in(value)
        elif hasattr(value, "ndim"):
            yield value


def deepest(values: Any) -> Level:
    """The innermost level among the arrays."""
    found: Level | None = None
    for value in arrays_in(values):
        if type(value) is Batched and (found is None or value.level.serial > found.serial):
            found = value.level
    assert found is not None
    return found


def levels_of(values: Any) -> tuple[Level, ...]:
    """All levels of the arrays, the outermost first."""
    found: set[Level] = set()
    for value in arrays_in(values):
        while type(value) is Batched:
            found.add(value.level)
            value = value.data
    return tuple(sorted(found, key=lambda level: level.serial))


def chain_of(value: Any) -> tuple[Level, ...]:
    """The levels that an array is nested in, the innermost first."""
    return (value.level, *chain_of(value.data)) if type(value) is Batched else ()


def in_chain(value: Any, levels: tuple[Level, ...]) -> Any:
    """An array that was computed a second time, as one of the levels of the first time."""
    return Batched(in_chain(value.data, levels[1:]), levels[0], value.varies) if levels else value


def is_of(value: Any, level: Level) -> bool:
    """Is it an array of this level?"""
    return type(value) is Batched and value.level is level


def varying(value: Any, level: Level) -> bool:
    """Is it different for each sample of a level?"""
    return type(value) is Batched and value.level is level and value.varies


def aligned(value: Any, level: Level, ndim: int) -> Any:
    """Data that broadcasts with that of samples of `ndim` dimensions."""
    if type(value) is not Batched or value.level is not level:
        return value
    data = value.data
    if not value.varies or data.ndim == ndim + 1:
        return data
    shape = data.shape
    return data.reshape((shape[0],) + (1,) * (ndim + 1 - data.ndim) + shape[1:])


def spread(value: Any, level: Level) -> Any:
    """Data with a sample for each place along the first dimension, whether they differ or not."""
    if varying(value, level):
        return value.data
    data = value.data if is_of(value, level) else value
    return strided(data, (level.size, *data.shape), (0, *data.strides))


def wrapped(result: Any, level: Level, varies: bool) -> Any:
    """What a function made of the data, as arrays of the level."""
    if type(result) is tuple or type(result) is list:
        return type(result)([wrapped(each, level, varies) for each in result])
    if result is None or type(result) in (bool, int, float, complex):
        return result
    return Batched(
        result if hasattr(result, "reshape") and not isinstance(result, numpy.generic) else numpy.asarray(result),
        level,
        varies,
    )


def broadcast(function: Function, args: tuple[Any, ...], options: Any = None) -> Any:
    """A function of elements that broadcasts its arguments."""
    level = deepest(args)
    ndim = max([each.ndim for each in args if hasattr(each, "ndim")])
    given = [aligned(each, level, ndim) for each in args]
    varies = any(varying(each, level) for each in args)
    return wrapped(function(*given, **options) if options else function(*given), level, varies)


def sample(value: Any, level: Level, i: int) -> Any:
    """The arguments of one sample."""
    if type(value) is tuple or type(value) is list:
        return type(value)([sample(each, level, i) for each in value])
    if type(value) is not Batched or value.level is not level:
        return value
    return value.data[i, ...] if value.varies else value.data


def one_by_one(function: Function, args: tuple[Any, ...], options: Any = None) -> Any:
    """Any function, for one sample after the other."""
    options = options or {}
    level = deepest((*args, *options.values()))
    if not fallback.enabled:
        raise EngineError(
            f"Batching rule not implemented for aten::{getattr(function, '__name__', 'an operation')}. We could not generate a fallback."
        )
    named = list(options)

    def run(i: int) -> Any:
        given = sample(args, level, i)
        return function(*given, **dict(zip(named, sample(tuple(options.values()), level, i), strict=True)))

    if not any(varying(each, level) for each in arrays_in((*args, *options.values()))):
        return wrapped(run(0), level, False)
    if not level.size:
        return _of_none(function, args, options, level)
    return _joined([run(i) for i in range(level.size)], level)


def _of_none(function: Function, args: Any, options: Any, level: Level) -> Any:
    """A batch without samples: one of zeros says what the results look like."""

    def made(value: Any) -> Any:
        if type(value) is tuple or type(value) is list:
            return type(value)([made(each) for each in value])
        return numpy.zeros(value.shape, value.dtype) if varying(value, level) else sample(value, level, 0)

    def empty(result: Any) -> Any:
        if type(result) is tuple or type(result) is list:
            return type(result)([empty(each) for each in result])
        return Batched(numpy.zeros((0, *numpy.shape(result)), numpy.asarray(result).dtype), level, True)

    return empty(function(*made(args), **{name: made(value) for name, value in options.items()}))


def _joined(results: list[Any], level: Level) -> Any:
    first = results[0]
    if type(first) is tuple or type(first) is list:
        return type(first)([_joined(list(column), level) for column in zip(*results, strict=True)])
    if first is None or type(first) in (bool, int, float, complex):
        return first
    if len({numpy.shape(each) for each in results}) > 1:
        refuse_dynamic("an operation")
    if type(first) is Batched:
        inner = deepest(results)
        return Batched(Batched(joined([spread(each, inner) for each in results], 1), inner, True), level, True)
    return Batched(joined(results, 0), level, True)


def joined(arrays: list[Any], axis: int) -> Any:
    """Arrays side by side along a new dimension, whatever library they are of."""
    if type(arrays[0]) is Batched:
        inner = deepest(arrays)
        return Batched(joined([spread(each, inner) for each in arrays], axis + 1), inner, True)
    from ..registry import library_of

    return library_of(arrays[0]).xp.stack(arrays, axis)


# Writing -----------------------------------------------------------------------------------------------------


def over(target: Any, value: Any, name: str = "copy_") -> None:
    """Write values into an array, converted to its type."""
    if type(value) is Batched and (type(target) is not Batched or value.level.serial > target.level.serial):
        if value.varies:
            refuse_write(name)
        over(target, value.data, name)
        return
    if type(target) is not Batched:
        _copy(target, value)
        return
    level = target.level
    if is_of(value, level):
        if value.varies and not target.varies:
            refuse_write(name)
        value = aligned(value, level, target.ndim) if value.ndim <= target.ndim else value.data
    if type(target.data) is Batched or type(value) is Batched:
        over(target.data, value, name)
    else:
        _copy(target.data, value)


def _copy(target: Any, value: Any) -> None:
    if type(target) is numpy.ndarray:
        numpy.copyto(target, value, casting="unsafe")
    else:
        target[...] = value


def _restrided(x: Batched, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Batched:
    if not x.varies:
        return x.like(strided(x.data, shape, strides, offset))
    return x.like(strided(x.data, (x.level.size, *shape), (x.data.strides[0], *strides), offset))


ARRAYS[Batched], LAYS_OUT[Batched] = _restrided, Batched.laid_out

"""New arrays."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy

from .array import MetaArray, alike, fresh
from .namespace import rule, sample, xp

# New ones --------------------------------------------------------------------------------------------


def _size(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (operator.index(shape),)


@rule
def empty(shape: Any, dtype: Any = numpy.float64, order: str = "C", **_: Any) -> MetaArray:
    """Shape and type, and no memory."""
    sizes = _size(shape)
    if order == "F":
        return fresh(sizes[::-1], dtype).transpose()
    return fresh(sizes, numpy.float64 if dtype is None else dtype)


rule(empty, "zeros")
rule(empty, "ones")


@rule
def full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", **_: Any) -> MetaArray:
    """Shape and type, and no memory."""
    return fresh(_size(shape), numpy.asarray(sample(fill_value)).dtype if dtype is None else dtype)


@rule
def empty_like(
    x: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
) -> MetaArray:
    """As another array, unless told otherwise."""
    sizes = x.shape if shape is None else _size(shape)
    return alike(sizes, x.dtype if dtype is None else dtype, [x] if len(sizes) == x.ndim else [], order)


rule(empty_like, "zeros_like")
rule(empty_like, "ones_like")


@rule
def full_like(x: Any, fill_value: Any, dtype: Any = None, order: str = "K", **options: Any) -> MetaArray:
    """As another array, unless told otherwise."""
    return empty_like(x, dtype, order)


@rule
def asarray(x: Any, dtype: Any = None, order: str = "K", **_: Any) -> MetaArray:
    """A number, a sequence or an array as an array without memory."""
    if isinstance(x, MetaArray):
        return x if dtype is None or x.dtype == dtype else x.astype(dtype)
    if isinstance(x, (list, tuple)) and any(isinstance(each, MetaArray) for each in x):
        return xp.stack([asarray(each, dtype) for each in x])  # type: ignore[no-any-return]
    host = numpy.asarray(x, dtype)
    return alike(host.shape, host.dtype, [host])


@rule
def array(x: Any, dtype: Any = None, copy: bool = True, order: str = "K", **_: Any) -> MetaArray:
    """A new array."""
    found = asarray(x, dtype)
    return found.copy(order) if found is x else found


@rule
def ascontiguousarray(x: Any, dtype: Any = None) -> MetaArray:
    """In C's order; itself if it is."""
    found = asarray(x, dtype)
    return found if found.flags.c_contiguous else fresh(found.shape, found.dtype)


@rule
def arange(*args: Any, dtype: Any = None, **_: Any) -> MetaArray:
    """Evenly spaced numbers."""
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    kind = numpy.arange(*[type(each)(1) for each in args[:2]]).dtype if dtype is None else dtype
    return fresh((max(math.ceil((stop - start) / step), 0),), kind)


@rule
def linspace(start: Any, stop: Any, num: int = 50, dtype: Any = None, **_: Any) -> MetaArray:
    """Evenly spaced numbers, both ends included."""
    return fresh((num,), numpy.float64 if dtype is None else dtype)


@rule
def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = numpy.float64) -> MetaArray:
    """The identity matrix."""
    return fresh((n, n if m is None else m), dtype)


@rule
def tri(n: int, m: int | None = None, k: int = 0, dtype: Any = numpy.float64) -> MetaArray:
    """Ones on and below the diagonal."""
    return fresh((n, n if m is None else m), dtype)


@rule
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[MetaArray, MetaArray]:
    """Rows and columns of a lower triangle."""
    return _triangle(n, n if m is None else m, k + 1)


@rule
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[MetaArray, MetaArray]:
    """Rows and columns of an upper triangle."""
    width = n if m is None else m
    below = _triangle(n, width, k)[0].size
    return (fresh((n * width - below,), numpy.int64),) * 2


def _triangle(n: int, width: int, above: int) -> tuple[MetaArray, MetaArray]:
    """Places of the elements whose column is less than their row plus `above`."""
    first = max(1 - above, 0)  # the first row that has any
    full_from = max(width - above, first)  # the first row that is all in
    ramp = range(first, min(full_from, n))
    count = sum((ramp[0] + above, ramp[-1] + above)) * len(ramp) // 2 if ramp else 0
    count += width * max(n - max(full_from, 0), 0)
    return (fresh((count,), numpy.int64),) * 2


@rule
def meshgrid(*xs: Any, indexing: str = "xy", **_: Any) -> list[Any]:
    """Coordinates of a grid."""
    sizes = [x.size for x in xs]
    if indexing == "xy" and len(sizes) > 1:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    return [fresh(sizes, x.dtype) for x in xs]


class _Open:
    """`xp.ogrid[:2, :3]`: coordinates along each dimension."""

    def __getitem__(self, parts: Any) -> tuple[Any, ...]:
        lines = [xp.arange(part.start or 0, part.stop, part.step or 1) for part in parts]
        return xp.ix_(*lines)  # type: ignore[no-any-return]


xp.ogrid = _Open()


@rule
def ix_(*xs: Any) -> tuple[Any, ...]:
    """Indices that select a grid."""
    return tuple([x.reshape([-1 if i == j else 1 for j in range(len(xs))]) for i, x in enumerate(xs)])

"""Reductions, running sums, order, and what depends on values."""

from __future__ import annotations

from typing import Any

import numpy

from ...errors import NoDataError
from .array import MetaArray, alike, fresh
from .namespace import given, reduced, rule, sample, shape_of

# Reductions ------------------------------------------------------------------------------------------


def _reduction(name: str, refuses_empty: bool = False) -> Any:
    ours = getattr(numpy, name)

    def function(
        x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **options: Any
    ) -> Any:
        with numpy.errstate(all="ignore"):
            kind = ours(sample(x), **({} if dtype is None else {"dtype": dtype})).dtype
        found = reduced(x, axis, bool(keepdims), kind, name if refuses_empty and "initial" not in options else None)
        return found if out is None else given(out, found.shape)

    function.__name__ = name
    return function


for _name in ("sum", "prod", "mean", "any", "all", "nansum", "nanmean", "median", "nanmedian"):
    rule(_reduction(_name), _name)
for _name in ("max", "min", "amax", "amin", "nanmax", "nanmin", "argmax", "argmin", "nanargmax", "ptp"):
    rule(_reduction(_name, refuses_empty=True), _name)


@rule
def count_nonzero(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return reduced(x, axis, keepdims, numpy.dtype(numpy.int64))


def _spread(name: str) -> Any:
    def function(
        x: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
    ) -> Any:
        return reduced(x, axis, keepdims, getattr(numpy, name)(sample(x)).dtype)

    return function


for _name in ("var", "std"):
    rule(_spread(_name), _name)


@rule
def cumsum(x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums."""
    x = x if axis is not None else x.reshape(-1)
    made = alike(x.shape, numpy.cumsum(sample(x), dtype=dtype).dtype, [x])
    return made if out is None else given(out, made.shape)


@rule
def cumprod(x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products."""
    return cumsum(x, axis, dtype, out)


@rule
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours."""
    shape, axis = list(x.shape), axis % x.ndim
    for more in (prepend, append):
        if more is not None:
            shape[axis] += shape_of(more)[axis] if shape_of(more) else 1
    shape[axis] = max(shape[axis] - n, 0)
    return fresh(shape, numpy.diff(numpy.ones(2, x.dtype)).dtype)


# Order -----------------------------------------------------------------------------------------------


@rule
def sort(x: Any, axis: int | None = -1, kind: Any = None, **_: Any) -> Any:
    """The elements in order."""
    return alike(x.shape if axis is not None else (x.size,), x.dtype, [x] if axis is not None else [])


@rule
def argsort(x: Any, axis: int | None = -1, kind: Any = None, **_: Any) -> Any:
    """Where the elements stand that come in order."""
    return alike(x.shape if axis is not None else (x.size,), numpy.int64, [x] if axis is not None else [])


@rule
def partition(x: Any, kth: Any, axis: int = -1, **_: Any) -> Any:
    """Sorted around one element."""
    return sort(x, axis)


@rule
def argpartition(x: Any, kth: Any, axis: int = -1, **_: Any) -> Any:
    """Where the elements stand that are sorted around one."""
    return argsort(x, axis)


@rule
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The order by several keys."""
    return fresh(shape_of(keys)[1:] if isinstance(keys, MetaArray) else shape_of(keys[0]), numpy.int64)


@rule
def searchsorted(x: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where values would stand in a sorted array."""
    return fresh(shape_of(values), numpy.int64)


def _depends(name: str) -> Any:
    def function(*args: Any, **options: Any) -> Any:
        raise NoDataError(f"{name}: its result depends on values, and there are none on the meta device")

    function.__name__ = name
    return function


for _name in ("nonzero", "flatnonzero", "argwhere", "unique", "extract", "compress", "array_equal", "allclose"):
    rule(_depends(_name), _name)


@rule
def bincount(x: Any, weights: Any = None, minlength: int | None = None) -> Any:
    """Counts of small integers; without `minlength` their number depends on the values."""
    if not minlength:
        raise NoDataError("bincount: its shape depends on values, and there are none on the meta device")
    return fresh((minlength,), numpy.int64 if weights is None else numpy.float64)


@rule
def may_share_memory(x: Any, y: Any, **_: Any) -> bool:
    """Would both be parts of one memory?"""
    if not isinstance(x, MetaArray) or not isinstance(y, MetaArray):
        return False
    return (x if x.base is None else x.base) is (y if y.base is None else y.base)


rule(may_share_memory, "shares_memory")

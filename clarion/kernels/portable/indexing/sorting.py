"""Order: sorting, the largest, the middle, the most frequent. NaN is greater than every number.

On the host equal elements come out of `sort` and `topk` as out of PyTorch's (equals.py); a stable sort keeps their order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ...everywhere import running
from ...layout import as_laid_out, in_rows
from ...quiet import quietly
from ...registry import kernel, raw
from .equals import PARTIAL, SHORT
from .selected import named_of_equals

RADIX = 32768  # whole numbers from which PyTorch sorts them by their digits, which keeps the order of equals


def sortable(x: Any) -> Any:
    """What the array library can sort as fast as it can: bfloat16 as float32."""
    return x.astype("float32") if x.dtype.kind == "V" else x


def order(xp: Any, x: Any, dim: int, descending: bool) -> Any:
    """The stable order along `dim`."""
    x = sortable(x)
    if not descending:
        return xp.argsort(x, axis=dim, kind="stable")
    # Sorted backwards and read backwards: equal elements keep their order, and NaN comes first.
    found = xp.flip(xp.argsort(xp.flip(x, dim), axis=dim, kind="stable"), dim)
    return xp.ascontiguousarray(x.shape[dim] - 1 - found)


def _sort_stable(xp: Any, x: Any, dim: int, descending: bool) -> Any:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    places = order(xp, x, dim, descending)
    return xp.take_along_axis(x, places, dim), places


@kernel("sort")
@as_laid_out
def sort(xp: Any, x: Any, dim: int, descending: bool) -> Any:
    values, places = _sort_stable(xp, x, dim, descending)
    return as_exchanged(x, values, places, dim, descending) if xp is numpy else (values, places)


kernel("sort_stable")(as_laid_out(_sort_stable))


@kernel("argsort")
@as_laid_out
def argsort(xp: Any, x: Any, dim: int, descending: bool) -> Any:
    if xp is not numpy or not x.ndim or keeps_order(x, x.shape[dim], descending):
        return order(xp, x, dim, descending) if x.ndim else xp.zeros((), xp.int64)
    return sort(xp, x, dim, descending)[1]


def as_exchanged(x: Any, values: Any, places: Any, dim: int, descending: bool) -> Any:
    """A stable sort of NumPy's arrays, with equal elements where a sort that exchanges puts them."""
    n = x.shape[dim] if x.ndim else 1
    if keeps_order(x, n, descending) or n >= 1 << 31 or _all_differ(values, dim, descending):
        return values, places
    same = _neighbours(values, dim)
    if not same.any():
        return values, places
    same, found = numpy.moveaxis(same, dim, -1), numpy.moveaxis(places, dim, -1)
    rows = same.any(axis=-1)
    found[rows] = raw.exchanged(_elements(same[rows], found[rows]), 0, True) & 0xFFFFFFFF
    return numpy.take_along_axis(x, places, dim), places


def keeps_order(x: Any, n: int, descending: bool) -> bool:
    """Does PyTorch sort so many elements in a way that keeps the order of equals?"""
    return n <= SHORT or (n >= RADIX and x.ndim == 1 and x.dtype.kind in "iu" and not descending)


def _all_differ(values: Any, dim: int, descending: bool) -> bool:
    """Is each of sorted values followed by another one? (Mostly so; where there is a NaN, nobody knows.)"""
    before = (slice(None),) * dim
    one, two = values[(*before, slice(-1))], values[(*before, slice(1, None))]
    other = numpy.greater(one, two) if descending else numpy.less(one, two)
    return numpy.count_nonzero(other) == other.size  # (quicker than `all`)


def _neighbours(values: Any, dim: int) -> Any:
    """Which of sorted values are equal to the next one."""
    values, before = sortable(values), (slice(None),) * dim
    one, two = values[(*before, slice(-1))], values[(*before, slice(1, None))]
    same = one == two
    if values.dtype.kind == "f":
        missing = one != one
        if missing.any():
            same |= missing & (two != two)
    return same


def _elements(same: Any, places: Any) -> Any:
    """Rows of ranks and places, each pair one number (equals.py), from what is equal in the sorted order."""
    ranks = numpy.zeros(places.shape, numpy.int64)
    numpy.cumsum(~same, axis=-1, out=ranks[..., 1:])
    elements = numpy.empty(places.shape, numpy.int64)
    numpy.put_along_axis(elements, places, ranks << 32, -1)
    elements |= numpy.arange(places.shape[-1])
    return elements


@kernel("topk")
def topk(xp: Any, x: Any, k: int, dim: int, largest: bool) -> Any:
    n = x.shape[dim] if x.ndim else 1
    if xp is not numpy or n == 1 or k == 0 or n >= 1 << 31:
        return raw.topk_stable(x, k, dim, largest)
    # One more is asked for: of elements that are equal to it, PyTorch may choose others.
    values, places = raw.topk_stable(x, min(k + 1, n), dim, largest)
    differ, same, first = _all_differ(values, dim, largest), None, (*(slice(None),) * dim, slice(k))
    if not differ:
        same = _neighbours(values, dim)
    if k < n:
        values, places = values[first].copy(), places[first].copy()
    if same is None or not same.any():
        return values, places
    rows = numpy.moveaxis(same, dim, -1).any(axis=-1)
    numpy.moveaxis(places, dim, -1)[rows] = _topk_exchanged(numpy.moveaxis(x, dim, -1)[rows], k, largest, True)
    return numpy.take_along_axis(x, places, dim), places


def _topk_exchanged(rows: Any, k: int, largest: bool, in_order: bool) -> Any:
    """Where the largest of every row are, as they are found by exchanges."""
    return raw.exchanged(raw.ranked(rows, largest), k, in_order)[:, :k] & 0xFFFFFFFF


@kernel("ranked")
def ranked(xp: Any, rows: Any, descending: bool) -> Any:
    """Elements (equals.py) of a matrix: in the upper half what says their order, equal for equal ones, in the lower where they lie."""
    values, places = raw.sort_stable(rows, 1, descending)
    return _elements(_neighbours(values, 1), places)


@kernel("topk_unsorted")
def topk_unsorted(xp: Any, x: Any, k: int, dim: int, largest: bool) -> Any:
    """In the order in which they are found."""
    n = x.shape[dim] if x.ndim else 1
    if xp is not numpy or n == 1 or k == 0 or k * PARTIAL <= n or n >= 1 << 31:
        return raw.topk(x, k, dim, largest)
    rows = numpy.moveaxis(x, dim, -1)
    found = _topk_exchanged(rows.reshape(-1, n), k, largest, False).reshape(*rows.shape[:-1], k)
    places = numpy.ascontiguousarray(numpy.moveaxis(found, -1, dim))
    return numpy.take_along_axis(x, places, dim), places


@kernel("topk_stable")
def topk_stable(xp: Any, x: Any, k: int, dim: int, largest: bool) -> Any:
    if x.ndim == 0:
        shape = (1,) if k == 0 else ()
        return x.reshape(shape)[:0] if k == 0 else x.copy(), xp.zeros(() if k else (0,), xp.int64)
    n = x.shape[dim]
    before = (slice(None),) * dim
    if k * 4 >= n or n <= 32:
        places = order(xp, x, dim, largest)[(*before, slice(k))]
    else:
        part = xp.argpartition(sortable(x), n - k if largest else k - 1, axis=dim)
        part = xp.sort(part[(*before, slice(n - k, None) if largest else slice(k))], axis=dim)
        places = xp.take_along_axis(part, order(xp, xp.take_along_axis(x, part, dim), dim, largest), dim)
    places = xp.ascontiguousarray(places)
    return xp.take_along_axis(x, places, dim), places


# One element of the sorted order ------------------------------------------------------------------------


def element(xp: Any, x: Any, rank: Any, dim: int, keepdim: bool) -> Any:
    """The element of that rank (counted from 0) along `dim`, and where it is; `rank` is a number or an array."""
    if isinstance(rank, int) and (found := _of_short_rows(xp, x, rank, dim, keepdim)) is not None:
        return found
    key = sortable(x)
    if isinstance(rank, int):
        value = xp.partition(key, rank, axis=dim)[(slice(None),) * dim + (slice(rank, rank + 1),)]
    else:
        value = xp.take_along_axis(xp.sort(key, axis=dim), rank, dim)
    equal = key == value
    if key.dtype.kind == "f":
        missing = xp.isnan(value)
        equal |= missing & xp.isnan(key)
        less = xp.where(missing, ~xp.isnan(key), key < value)
    else:
        less = key < value
    # Of several equal elements: the one a stable sort would put there.
    nth = rank - less.sum(axis=dim, keepdims=True) + 1
    place = xp.argmax((xp.cumsum(equal, axis=dim) == nth) & equal, axis=dim, keepdims=True)
    value = xp.take_along_axis(x, place, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _of_short_rows(xp: Any, x: Any, rank: int, dim: int, keepdim: bool, numbers: bool = False) -> Any:
    """The same where rows are short enough to be sorted as a whole; None otherwise, and where there is a NaN but all must be `numbers`."""
    if xp is not numpy or dim != x.ndim - 1 or x.shape[dim] > MANY or x.dtype.char not in "fdl":
        return None
    values, places = raw.sort_stable(x, dim, False)
    if numbers:
        last = values[..., -1]
        if numpy.count_nonzero(last == last) < last.size:
            return None
    which = (..., slice(rank, rank + 1)) if keepdim else (..., rank)
    return numpy.array(values[which]), numpy.array(places[which])


MANY = 64  # elements of a row that are sorted rather than looked through


@kernel("kthvalue")
def kthvalue(xp: Any, x: Any, k: int, dim: int, keepdim: bool) -> Any:
    if not x.ndim:
        return x.copy(), xp.zeros((), xp.int64)
    found = element(xp, x, k - 1, dim, keepdim)
    return named_of_equals(xp, sortable(x), k - 1, dim, found, keepdim) if type(x) is numpy.ndarray else found


def median(xp: Any, x: Any, dim: int, keepdim: bool) -> Any:
    """The lower middle; where there is a NaN, the first of them."""
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    n = x.shape[dim]
    if x.dtype.kind in "iu":
        return element(xp, x, (n - 1) // 2, dim, keepdim)
    if n and (found := _of_short_rows(xp, x, (n - 1) // 2, dim, keepdim, True)) is not None:
        return found
    numbers = (~xp.isnan(sortable(x))).sum(axis=dim, keepdims=True)
    return element(xp, x, xp.where(numbers < n, numbers, (n - 1) // 2), dim, keepdim)


def nanmedian(xp: Any, x: Any, dim: int, keepdim: bool) -> Any:
    """The lower middle of the numbers that are not NaN."""
    if x.ndim == 0 or x.dtype.kind in "iu":
        return median(xp, x, dim, keepdim)
    numbers = (~xp.isnan(sortable(x))).sum(axis=dim, keepdims=True)
    return element(xp, x, xp.maximum(numbers - 1, 0) // 2, dim, keepdim)


kernel("median_dim")(median)
kernel("nanmedian_dim")(nanmedian)


_FEW = 256  # numbers that are sorted as quickly as parted in the middle


def _of_all(median: Any) -> Any:
    def of_all(xp: Any, x: Any) -> Any:
        if x.size == 0:
            # (NaN, as a processor makes integers of it: the smallest of 32 or 64 bits, cut off to 0 in fewer)
            whole = xp.iinfo(x.dtype).min if x.dtype.kind in "iu" and x.dtype.itemsize >= 4 else 0
            return xp.array(whole if x.dtype.kind in "iu" else xp.nan, x.dtype)
        if xp is numpy and x.dtype.char in "fd":  # where it lies nobody asks
            middle, ordered = (x.size - 1) // 2, x.flatten()
            if x.size <= _FEW:
                ordered.sort()
            else:
                ordered.partition((middle, x.size - 1))
            if ordered[-1] == ordered[-1]:
                return ordered[middle]
        return median(xp, x.reshape(-1), 0, False)[0]

    return of_all


kernel("median")(_of_all(median))
kernel("nanmedian")(_of_all(nanmedian))


@kernel("mode")
def mode(xp: Any, x: Any, dim: int, keepdim: bool) -> Any:
    """The most frequent value, the smallest of several; the last of them in the order."""
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    places = xp.moveaxis(sort(xp, x, dim, False)[1], dim, -1)
    ordered = xp.take_along_axis(xp.moveaxis(x, dim, -1), places, -1)
    position = xp.arange(ordered.shape[-1])
    starts = xp.zeros(ordered.shape, xp.int64)
    starts[..., 1:] = xp.where(ordered[..., 1:] != ordered[..., :-1], position[1:], 0)
    run = position - running(xp, "maximum", starts, starts.ndim - 1)
    best = xp.argmax(run, axis=-1, keepdims=True)
    value = xp.moveaxis(xp.take_along_axis(ordered, best, -1), -1, dim)
    place = xp.moveaxis(xp.take_along_axis(places, best, -1), -1, dim)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


# Distinct values -----------------------------------------------------------------------------------------


def _runs(xp: Any, rows: Any, places: Any) -> tuple[Any, Any, Any]:
    """Neighbouring rows that are equal, as one: where each run starts, the run of each element, their lengths.

    `places` says where the rows came from (None: they are in their order).
    """
    n = len(rows)
    if n == 0:
        none = xp.zeros(0, xp.int64)
        return none, none, none
    new = xp.ones(n, bool)
    differ = rows[1:] != rows[:-1]
    new[1:] = differ if differ.ndim == 1 else differ.any(axis=tuple(range(1, differ.ndim)))
    first = xp.flatnonzero(new)
    run = xp.cumsum(new) - 1
    inverse = run
    if places is not None:
        inverse = xp.empty_like(run)
        inverse[places] = run
    return first, inverse, xp.diff(first, append=n)


@kernel("unique")
def unique(xp: Any, x: Any) -> Any:
    flat = x.reshape(-1)
    if xp is numpy and x.dtype == numpy.int64 and x.size:
        low = int(flat.min())
        if (span := int(flat.max()) - low + 1) <= 4 * x.size + 1000:
            return _counted(flat, low, span, x.shape)
    places = order(xp, flat, 0, False)
    ordered = flat[places]
    first, inverse, counts = _runs(xp, ordered, places)
    return ordered[first], inverse.reshape(x.shape), counts


def _counted(flat: Any, low: int, span: int, shape: tuple[int, ...]) -> Any:
    """Whole numbers that lie near to each other are counted, which takes a tenth of the time of sorting them."""
    places = flat - low if low else flat
    count = numpy.bincount(places, minlength=span)
    found = numpy.flatnonzero(count)
    rank = numpy.empty(span, numpy.int64)
    rank[found] = numpy.arange(found.size)
    return found + low, rank[places].reshape(shape), count[found]


@kernel("unique_dim")
def unique_dim(xp: Any, x: Any, dim: int) -> Any:
    rows = xp.moveaxis(x, dim, 0)
    flat = sortable(rows.reshape(len(rows), -1) if rows.size else rows.reshape(len(rows), 0))
    places = xp.lexsort(flat.T[::-1]) if flat.shape[1] else xp.arange(len(flat))
    first, inverse, counts = _runs(xp, flat[places], places)
    return xp.ascontiguousarray(xp.moveaxis(rows[places[first]], 0, dim)), inverse, counts


@kernel("unique_consecutive")
def unique_consecutive(xp: Any, x: Any, dim: int | None) -> Any:
    rows = x.reshape(-1) if dim is None else xp.moveaxis(x, dim, 0)
    first, inverse, counts = _runs(xp, rows, None)
    if dim is None:
        return rows[first], inverse.reshape(x.shape), counts
    return xp.ascontiguousarray(xp.moveaxis(rows[first], 0, dim)), inverse, counts


@kernel("isin")
def isin(xp: Any, x: Any, y: Any, invert: bool) -> Any:
    return xp.isin(sortable(x), sortable(y), invert=invert)


# Bins ----------------------------------------------------------------------------------------------------


@kernel("searchsorted")
def searchsorted(xp: Any, edges: Any, values: Any, right: bool, dtype: Any) -> Any:
    """Where to put each value so that `edges` stays in order; `edges` has one row for all, or one per row of values."""
    edges, values = sortable(edges), sortable(values)
    if edges.ndim == 1 and (edges.dtype.kind != "f" or not edges.size or edges[-1] == edges[-1]):
        return xp.asarray(xp.searchsorted(edges, values, side="right" if right else "left")).astype(dtype)
    n = edges.shape[-1]
    if not n or not values.size:
        return xp.zeros(values.shape, dtype)
    rows = edges.reshape(-1, n)
    many = values.reshape(len(rows), -1)
    low, high = xp.zeros(many.shape, xp.int64), xp.full(many.shape, n, xp.int64)
    for _ in range(n.bit_length()):  # halves the range of all values at once
        middle = (low + high) // 2
        there = xp.take_along_axis(rows, xp.minimum(middle, n - 1), 1)
        up = ~(there > many if right else there >= many) & (low < high)
        low = xp.where(up, middle + 1, low)
        high = xp.where(up, high, middle)
    return low.reshape(values.shape).astype(dtype)


@kernel("bincount")
def bincount(xp: Any, x: Any, weights: Any, minlength: int) -> Any:
    counts = xp.bincount(x, weights if weights is None else weights.astype("float64"), minlength)
    return counts.astype(weights.dtype) if weights is not None and weights.dtype == "float32" else counts


@kernel("histc")
def histc(xp: Any, x: Any, bins: int, low: float, high: float) -> Any:
    flat = x.reshape(-1)
    flat = flat[(flat >= low) & (flat <= high)]
    low, high = flat.dtype.type(low), flat.dtype.type(high)
    place = ((flat - low) * flat.dtype.type(bins) / (high - low)).astype(xp.int64)
    return xp.bincount(xp.minimum(place, bins - 1), minlength=bins).astype(x.dtype)


@kernel("histogramdd")
@quietly
def histogramdd(xp: Any, x: Any, weight: Any, edges: tuple[Any, ...], density: bool) -> Any:
    """How much lies in each bin: from its lower edge on, below its upper one; the last bin has both."""
    points = x.reshape(-1, x.shape[-1])
    shape = tuple([len(e) - 1 for e in edges])
    inside, place = xp.ones(len(points), bool), xp.zeros(len(points), xp.int64)
    for column, e, n in zip(points.T, edges, shape, strict=True):
        inside &= (column >= e[0]) & (column <= e[-1])
        place = place * n + xp.clip(xp.searchsorted(e, column, side="right") - 1, 0, n - 1)
    weights = None if weight is None else weight.reshape(-1)[inside]
    hist = xp.bincount(place[inside], weights, math.prod(shape)).astype(x.dtype).reshape(shape)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            hist = hist / xp.diff(e).reshape([-1 if i == d else 1 for i in range(len(shape))])
    return hist


@kernel("one_hot")
@in_rows
def one_hot(xp: Any, x: Any, classes: int) -> Any:
    if xp is not numpy:
        return (x[..., None] == xp.arange(classes)).astype(xp.int64)
    out = numpy.zeros((*x.shape, classes), numpy.int64)
    out.reshape(-1)[numpy.arange(0, out.size, classes) + x.reshape(-1)] = 1
    return out

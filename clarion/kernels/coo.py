"""Sparse arrays: values at places, all else zero. Gradients of tables arrive so, and sparse tensors hold one."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy


class _Flags:
    writeable = c_contiguous = f_contiguous = False


class Coo:
    """`values[k]` lies at `indices[:, k]` of the first dimensions; entries at the same place add up.

    It has what an array says of itself, and can be added to others. `sorted` says that no place occurs twice, and that places
    are in order.
    """

    __slots__ = ("indices", "shape", "sorted", "values")
    __array_ufunc__ = None  # NumPy's arrays leave addition to it
    flags = _Flags()
    base = None
    met = False  # has there ever been one? While there was none, nobody need look for them

    def __init__(self, indices: Any, values: Any, shape: tuple[int, ...], is_sorted: bool = False) -> None:
        self.indices, self.values, self.shape, self.sorted = indices, values, shape, is_sorted
        Coo.met = True

    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.values.itemsize)
    nbytes = property(lambda self: self.values.nbytes + self.indices.nbytes)

    def astype(self, kind: Any) -> Coo:
        """The same with values of another type."""
        return Coo(self.indices, self.values.astype(kind), self.shape, self.sorted)

    def dense(self) -> Any:
        """All elements."""
        if not len(self.indices):  # no dimension is sparse: all values stand at one place
            return numpy.asarray(self.values.sum(0, dtype=self.values.dtype))
        full = numpy.zeros(self.shape, self.values.dtype)
        numpy.add.at(full, tuple(self.indices), self.values)
        return full

    def reshape(self, *shape: int) -> Any:
        """All elements in another shape: who measures gradients asks for them in one row."""
        return self.dense().reshape(*shape)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Coo):
            indices = numpy.concatenate((self.indices, other.indices), axis=1)
            values = numpy.concatenate((self.values, other.values))
            return (
                Coo(indices, values, self.shape)
                if not self.in_order() or not other.in_order()
                else merged(indices, values, self)
            )
        return self.dense() + other

    __radd__ = __add__

    def in_order(self) -> bool:
        """Do the places rise, so that none occurs twice?"""
        places = flat_places(self.indices, self.shape[: len(self.indices)])
        return self.sorted or bool((places[1:] > places[:-1]).all())

    def tensor(self) -> Any:
        """As users see it. (The room above this one knows how, and is loaded when it is first asked.)"""
        return importlib.import_module("clarion.sparse.tensor").from_coo(self)


def flat_places(indices: Any, sizes: tuple[int, ...]) -> Any:
    """Each place as one number."""
    places = numpy.zeros(indices.shape[1], numpy.int64)
    for row, n in zip(indices, sizes, strict=True):
        places = places * n + row
    return places


def merged(indices: Any, values: Any, like: Coo) -> Coo:
    """Entries of two arrays whose places rise, one after the other, as one whose places rise."""
    places = flat_places(indices, like.shape[: len(indices)])
    found, first, group = numpy.unique(places, return_index=True, return_inverse=True)
    total = numpy.zeros((len(found), *values.shape[1:]), values.dtype)
    numpy.add.at(total, group.reshape(-1), values)
    return Coo(numpy.ascontiguousarray(indices[:, first]), total, like.shape, like.sorted)


def lines_of(pointers: Any) -> Any:
    """The line of each entry, counted through all batches, from where the lines of each begin."""
    steps = numpy.diff(pointers).reshape(-1)
    return numpy.repeat(numpy.arange(len(steps)), steps)


def rows_of(pointers: Any) -> Any:
    """The row of each entry, from where the rows begin."""
    return numpy.repeat(numpy.arange(len(pointers) - 1), numpy.diff(pointers))


def pointers_of(rows: Any, count: int) -> Any:
    """Where the rows begin, from the (ordered) row of each entry."""
    return numpy.concatenate(([0], numpy.cumsum(numpy.bincount(rows, minlength=count)))).astype(numpy.int64)


def pairs(left: Any, right: Any) -> tuple[Any, Any]:
    """Which entries of `left` and `right` (numbers) are equal: all pairs of their positions."""
    order = numpy.argsort(right, kind="stable")
    ordered = right[order]
    begin, end = numpy.searchsorted(ordered, left, "left"), numpy.searchsorted(ordered, left, "right")
    counts = end - begin
    first = numpy.repeat(numpy.arange(len(left)), counts)
    within = numpy.arange(len(first)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    return first, order[numpy.repeat(begin, counts) + within]

"""How arrays lie in memory: other shapes and strides of the same bytes, and the chains of operations that views are."""

from __future__ import annotations

from typing import Any

import numpy


def memory_root(x: Any) -> Any:
    """The array that owns the memory behind a view."""
    while isinstance(x.base, numpy.ndarray):
        x = x.base
    return x


def address(x: Any) -> int:
    """Where the first element lies."""
    place: int = x.__array_interface__["data"][0]
    return place


def strided(x: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> Any:
    """The memory of `x` seen with other shape and strides; strides and offset in bytes, from the first element of `x`."""
    flags = x.flags
    if offset == 0 and (flags.c_contiguous or flags.f_contiguous) and x.size:
        try:
            return numpy.ndarray(shape, x.dtype, x, 0, strides)
        except ValueError:  # it reaches beyond `x` into the memory that `x` is a part of
            pass
    root = memory_root(x)
    if not (root.flags.c_contiguous or root.flags.f_contiguous):
        # Memory lent by another owner, whose extent is not known here.
        return numpy.lib.stride_tricks.as_strided(x, shape, strides)
    return numpy.ndarray(shape, x.dtype, root, address(x) - address(root) + offset, strides)


def blank(layout: tuple[Any, ...]) -> Any:
    """Zeros with the shape, the strides (in bytes) and the type that `layout` says: views can be taken alike."""
    shape, strides, dtype = layout
    out = numpy.zeros(shape, dtype)
    if out.strides == strides or out.size == 0:
        return out
    reach = dtype.itemsize + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
    return numpy.ndarray(shape, dtype, numpy.zeros(reach // dtype.itemsize, dtype), 0, strides)


def laid_out(x: Any, layout: tuple[Any, ...] | None) -> Any:
    """A copy of `x` with the strides of `layout`: whoever took a view there can take it here."""
    if layout is None or layout[0] != x.shape:
        return x.copy()
    whole = blank((x.shape, layout[1], x.dtype))
    whole[...] = x
    return whole


def may_overlap(x: Any) -> bool:
    """Could two elements share a place in memory? (A cheap test: never False where they do.)"""
    reach = x.itemsize
    for step, n in sorted(zip(x.strides, x.shape, strict=True)):
        if n == 1:
            continue
        if step < reach:
            return True
        reach += step * (n - 1)
    return False


def add_into(target: Any, positions: Any, g: Any) -> None:
    """Add `g` to the elements of the flat `target`, where a position may come several times."""
    numpy.add.at(target, positions.reshape(-1), g.reshape(-1))


def replay(chain: tuple[Any, ...], array: Any) -> Any:
    """Take the view described by `chain` from an array."""
    for op, params, nr in chain:
        array = op.kernel(array, *params)
        if nr is not None:
            array = array[nr]
    return array

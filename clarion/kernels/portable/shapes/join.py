"""Several arrays into one, one into several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...layout import channels_last, rows
from ...registry import kernel, raw

ALL = slice(None)


@kernel("join_at_once")
def join_at_once(xp: Any, arrays: Sequence[Any], dim: int) -> Any:
    """Arrays of one type joined by several threads; None where nobody offers that."""
    return None


MANY = 1 << 15  # elements of the first array from which several threads may write them all


@kernel("cat")
def cat(xp: Any, arrays: Sequence[Any], dim: int, dtype: Any) -> Any:
    if dtype is not None:
        arrays = [a.astype(dtype) for a in arrays]
    if arrays[0].size >= MANY and (found := raw.join_at_once(arrays, dim)) is not None:
        return found
    try:
        out = xp.concatenate(arrays, dim)
        return out if out.flags.c_contiguous or all(map(channels_last, arrays)) else rows(out)
    except ValueError:
        # PyTorch lets an empty vector stand for "nothing yet" among tensors of any dimension.
        some = [a for a in arrays if a.shape != (0,)]
        if len(some) in (0, len(arrays)):
            raise
        return rows(xp.concatenate(some, dim))


@kernel("stack")
def stack(xp: Any, arrays: Sequence[Any], dim: int, dtype: Any) -> Any:
    if dtype is not None:
        arrays = [a.astype(dtype) for a in arrays]
    first = arrays[0]
    if 4 <= first.ndim > dim and all(map(channels_last, arrays)):  # PyTorch cuts the new dimension out of what it joins
        return cat(xp, arrays, dim, None).reshape(*first.shape[:dim], len(arrays), *first.shape[dim:])
    place = (*(ALL,) * dim, None)
    parts = [a[place] for a in arrays]
    found = raw.join_at_once(parts, dim) if first.size >= MANY else None
    return rows(xp.concatenate(parts, dim) if found is None else found)


@kernel("unbind")
def unbind(xp: Any, x: Any, dim: int) -> Any:
    before = (ALL,) * dim
    return tuple([x[(*before, i, ...)] for i in range(x.shape[dim])])


@kernel("split_with_sizes")
def split_with_sizes(xp: Any, x: Any, sizes: tuple[int, ...], dim: int) -> Any:
    before = (ALL,) * dim
    ends = itertools.accumulate(sizes)
    return tuple([x[(*before, slice(end - n, end))] for n, end in zip(sizes, ends, strict=True)])


@kernel("split")
def split(xp: Any, x: Any, size: int, dim: int) -> Any:
    before = (ALL,) * dim
    return tuple([x[(*before, slice(i, i + size))] for i in range(0, x.shape[dim], size)] if size else [x])


@kernel("unsplit")
def unsplit(xp: Any, parts: Sequence[Any], shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    """The parts of a split put together again; a part that is None is zero."""
    if all(part is not None for part in parts):
        return cat(xp, parts, dim, None)
    out = xp.zeros(shape, next(part.dtype for part in parts if part is not None))
    for target, part in zip(split_with_sizes(xp, out, sizes, dim), parts, strict=True):
        if part is not None:
            target[...] = part
    return out


@kernel("unbind_backward")
def unbind_backward(xp: Any, parts: Sequence[Any], shape: tuple[int, ...], dim: int) -> Any:
    """The parts of an unbind put together again; a part that is None is zero."""
    if all(part is not None for part in parts):
        return xp.stack(parts, dim)
    out = xp.zeros(shape, next(part.dtype for part in parts if part is not None))
    for target, part in zip(unbind(xp, out, dim), parts, strict=True):
        if part is not None:
            target[...] = part
    return out


@kernel("block_diag")
def block_diag(xp: Any, arrays: Sequence[Any], dtype: Any) -> Any:
    shapes = [a.shape if a.ndim == 2 else (1, a.size) for a in arrays]
    out = xp.zeros(tuple(map(sum, zip(*shapes, strict=True))), dtype)
    row = column = 0
    for a, (n, m) in zip(arrays, shapes, strict=True):
        out[row : row + n, column : column + m] = a
        row, column = row + n, column + m
    return out

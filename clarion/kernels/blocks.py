"""Faster building blocks for NumPy: work block by block in the cache, and mask without branches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .layout import empty_like
from .registry import kernel, raw

# Elements per block: a few float32 buffers of this size fit into a second-level cache.
BLOCK = 1 << 16

_INTEGER = {np.dtype(np.float32): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}


def blockwise(body: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel from `body(out, *arrays)`, which fills `out` element by element in many cheap steps.

    Large arrays are cut into blocks, so that only the first and the last step touch main memory.
    """

    @functools.wraps(body)
    def call(first: Any, *more: Any) -> Any:
        alike = all(each.strides == first.strides for each in more)
        out = empty_like(first) if alike else np.empty(first.shape, first.dtype)
        if out.size <= BLOCK or not out.flags.c_contiguous:
            body(out, first, *more)
            return out
        flat = out.reshape(-1)
        flats = [a.reshape(-1) for a in (first, *more)]
        for i in range(0, flat.size, BLOCK):
            body(flat[i : i + BLOCK], *[a[i : i + BLOCK] for a in flats])
        return out

    return call


# NumPy's reductions cost a microsecond however small the array; finding a place, or a product with ones, a third of that.
SMALL = 4096


def largest(x: Any) -> float:
    """The largest element of an array that is not empty, or NaN if there is one, as a Python number."""
    return x.item(x.argmax()) if type(x) is np.ndarray and x.size <= SMALL else x.max().item()  # type: ignore[no-any-return]


def smallest(x: Any) -> float:
    """The smallest element of an array that is not empty, or NaN if there is one, as a Python number."""
    return x.item(x.argmin()) if type(x) is np.ndarray and x.size <= SMALL else x.min().item()  # type: ignore[no-any-return]


def same(xp: Any, x: Any, y: Any) -> bool:
    """Have two arrays one shape, and are all elements equal?"""
    if xp is not np or type(y) is not np.ndarray or x.size > SMALL or not x.size or not x.ndim:
        return bool(xp.array_equal(x, y))
    if x.shape != y.shape:
        return False
    alike = x == y
    return bool(alike.item(alike.argmin()))


def in_range(index: Any, size: int) -> bool:
    """Do all indices lie in 0 … size - 1? One pass: seen as unsigned, negative ones are huge.

    Only the host's are looked at: elsewhere there may be none, or looking means waiting.
    """
    if type(index) is not np.ndarray or not index.size:
        return True
    return bool(raw.all_below(index, size))


@kernel("all_below")
def all_below(xp: Any, index: Any, size: int) -> bool:
    """The same of the host's arrays, where there are some."""
    unsigned = index.view(_UINT64 if index.dtype is _INT64 else f"u{index.itemsize}")
    return bool(largest(unsigned) < size)


_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)


@functools.lru_cache(maxsize=256)
def ones(n: int, kind: str) -> Any:
    """`n` ones of the type with the letter `kind`, to add up with."""
    return np.ones(n, kind)


def dropped(xp: Any, g: Any, mask: Any) -> Any:
    """0 where `mask` holds, `g` elsewhere, whatever stands there (inf, nan).

    NumPy's `where` branches on every element; clearing the bits is ten times faster on a random mask.
    """
    integer = _INTEGER.get(g.dtype)
    if xp is not np or integer is None:
        return xp.where(mask, xp.zeros((), g.dtype), g)
    bits = np.asarray(mask).astype(integer)
    bits -= 1
    np.bitwise_and(bits, g.view(integer), out=bits)
    return bits.view(g.dtype)

"""Reductions. `dim` is a tuple of dimensions counted from the front, or None for all."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ...everywhere import constant
from ...quiet import quietly
from ...registry import kernel, raw

BLOCK = 256  # rows that one BLAS call adds up: short enough to keep float32 accurate
LARGE = 4096  # elements from which a reduction over outer dimensions goes through BLAS


@functools.lru_cache(maxsize=64)
def _ones(xp: Any, n: int, dtype: Any) -> Any:
    return xp.ones((1, n), dtype)


def _outer_sum(xp: Any, x: Any, rows: int) -> Any:
    """The sum over the middle of a contiguous (a, rows, c) array, as products with a row of ones.

    NumPy adds rows one by one: slow, and in float32 inaccurate. Short products, then the sum of those, is neither.
    """
    a, _, c = x.shape
    if rows <= BLOCK:
        return xp.matmul(_ones(xp, rows, x.dtype), x).reshape(a, c)
    whole = rows // BLOCK
    blocks = x[:, : whole * BLOCK].reshape(a, whole, BLOCK, c)
    partial = xp.matmul(_ones(xp, BLOCK, x.dtype), blocks).reshape(a, whole, c)
    total = xp.add.reduce(partial, axis=1) if whole <= BLOCK else _outer_sum(xp, partial, whole)
    if whole * BLOCK < rows:
        total += xp.add.reduce(x[:, whole * BLOCK :], axis=1)
    return total


def _inner_sum(xp: Any, x: Any) -> Any:
    """The sum over the second dimension of a contiguous matrix."""
    rows, n = x.shape
    if n < 16:
        return xp.add.reduce(x, axis=1)
    if n <= BLOCK:
        return x.dot(_ones(xp, n, x.dtype)[0])
    whole = n // BLOCK
    rest = n - whole * BLOCK
    blocks = x[:, : whole * BLOCK].reshape(rows * whole, BLOCK)
    total = _inner_sum(xp, blocks.dot(_ones(xp, BLOCK, x.dtype)[0]).reshape(rows, whole))
    return total + xp.add.reduce(x[:, n - rest :], axis=1) if rest else total


def add_up(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    """The sum; large ones through BLAS in blocks, which is quicker than NumPy's and keeps float32 accurate."""
    if x.size < LARGE or x.dtype.char not in "fd" or not x.flags.c_contiguous:
        return xp.add.reduce(x, dim, None, None, keepdim)
    ndim, shape = x.ndim, x.shape
    if dim is None:
        dim = tuple(range(ndim))
    inner = ndim
    while inner - 1 in dim:
        inner -= 1
    if inner < ndim:
        outer = math.prod(shape[:inner])
        x = _inner_sum(xp, x.reshape(outer, -1)).reshape(shape[:inner])
    rest = [d for d in dim if d < inner]
    if rest:
        first, last = min(rest), max(rest) + 1
        rows = math.prod(shape[first:last])
        if len(rest) == last - first and rows > 16 and x.size >= LARGE:
            x = _outer_sum(xp, x.reshape(math.prod(shape[:first]), rows, -1), rows)
        else:
            x = xp.add.reduce(x, axis=tuple(rest))
    if keepdim:
        return x.reshape(tuple(1 if i in dim else n for i, n in enumerate(shape)))
    return x.reshape(tuple(n for i, n in enumerate(shape) if i not in dim))


def count(shape: tuple[int, ...], dim: Any) -> int:
    """How many elements one result of a reduction is made of."""
    return math.prod(shape) if dim is None else math.prod([shape[d] for d in dim])


@kernel("sum")
def sum(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    if x.dtype.kind in "bui":
        return xp.add.reduce(x, axis=dim, dtype=xp.int64, keepdims=keepdim)
    return add_up(xp, x, dim, keepdim)


@kernel("sum_all")
def sum_all(xp: Any, x: Any) -> Any:
    if x.dtype.kind in "bui":
        return xp.add.reduce(x, axis=None, dtype=xp.int64)
    return add_up(xp, x, None, False)


def divided(xp: Any, total: Any, n: int) -> Any:
    """A sum divided by the number of its terms (never half precision: that is summed in float32)."""
    return total / constant(xp, n, total.dtype.char) if total.ndim else total / n if n else total * math.nan


@kernel("mean")
def mean(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return divided(xp, add_up(xp, x, dim, keepdim), count(x.shape, dim))


@kernel("mean_all")
def mean_all(xp: Any, x: Any) -> Any:
    return divided(xp, add_up(xp, x, None, False), x.size)


@kernel("nansum")
def nansum(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return add_up(xp, xp.where(xp.isnan(x), x.dtype.type(0), x), dim, keepdim)


@kernel("prod")
def prod(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return xp.multiply.reduce(x, axis=dim, dtype=xp.int64 if x.dtype.kind in "bui" else None, keepdims=keepdim)


@kernel("prod_all")
def prod_all(xp: Any, x: Any) -> Any:
    return xp.multiply.reduce(x, axis=None, dtype=xp.int64 if x.dtype.kind in "bui" else None)


@kernel("any")
def any(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    found = x.any(dim, keepdims=keepdim)
    return xp.asarray(found, dtype=xp.uint8) if x.dtype == xp.uint8 else found


@kernel("all")
def all(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    found = x.all(dim, keepdims=keepdim)
    return xp.asarray(found, dtype=xp.uint8) if x.dtype == xp.uint8 else found


@kernel("count_nonzero")
def count_nonzero(xp: Any, x: Any, dim: Any) -> Any:
    if xp is numpy and x.dtype.kind == "b":
        return numpy.asarray(raw.sum_all(x) if dim is None else raw.sum(x, dim, False), order="C")
    return xp.asarray(xp.add.reduce(x != 0, axis=dim, dtype=xp.int64), order="C")


@kernel("hash_tensor")
def hash_tensor(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    wide = xp.ascontiguousarray(x.astype(xp.int64 if x.dtype.kind in "biu" else xp.float64)).view(xp.uint64)
    dims = tuple(range(x.ndim)) if dim is None else dim
    others = tuple(i for i in range(x.ndim) if i not in dims)
    shape = tuple(x.shape[i] for i in others)
    flat = wide.reshape(x.shape).transpose(dims + others).reshape(-1, math.prod(shape))
    while len(flat) > 1:  # halves upon each other; an odd one at the end waits
        half = len(flat) // 2
        flat = xp.concatenate([flat[:half] ^ flat[half : 2 * half], flat[2 * half :]])
    return flat.reshape(tuple(1 if i in dims else n for i, n in enumerate(x.shape)) if keepdim else shape)


# Helpers of gradient rules -------------------------------------------------------------------------


@kernel("divide_or_zero")
@quietly
def divide_or_zero(xp: Any, x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0: gradients at the kink of a root."""
    return xp.where(y == 0, x.dtype.type(0), xp.true_divide(x, y))


@kernel("shift")
def shift(xp: Any, x: Any, dim: int, step: int, fill: float) -> Any:
    """Moved `step` places along `dim` (backwards if negative); `fill` comes in."""
    result = xp.full(x.shape, fill, x.dtype)
    before = (slice(None),) * dim
    if step > 0:
        result[(*before, slice(step, None))] = x[(*before, slice(None, -step))]
    else:
        result[(*before, slice(None, step))] = x[(*before, slice(-step, None))]
    return result

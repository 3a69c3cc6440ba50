"""Parts of an array by index arrays and masks: copies, and the writes and sums that go back."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from ...layout import alike
from ...registry import kernel, raw

# Writing into a copy, or in place ------------------------------------------------------------------


def writer(name: str, *, adds: bool = False, keeps: bool = False, anywhere: bool = False) -> Any:
    """Register a kernel by what it does to a contiguous array: `write(xp, out, *arguments)`.

    The kernel itself returns a copy of `x` with the change, or makes it in `out`. One that `adds` does so in
    float32 for half precision; one that `keeps` gives the copy the layout of `x`; one that writes `anywhere` needs no contiguous array.
    """

    def register(write: Any) -> Any:
        def run(xp: Any, x: Any, *args: Any, out: Any = None) -> Any:
            kind = accumulator(xp, x.dtype) if adds else x.dtype
            if out is x and kind == x.dtype and (anywhere or x.flags.c_contiguous):
                write(xp, out, *args)
                return out
            whole = xp.array(x, kind, order="C")
            write(xp, whole, *args)
            if out is None:
                whole = whole.astype(x.dtype, copy=False)
                return alike(whole, x) if keeps and (x.ndim > 3 or not x.flags.c_contiguous) else whole
            if out is x and 0 in x.strides:  # expanded: an element that was not written does not undo what was
                xp.copyto(out, whole, where=whole != x)
            else:
                out[...] = whole
            return out

        kernel(name)(run)
        return write

    return register


# Where index arrays point in the flattened array ---------------------------------------------------


def accumulator(xp: Any, dtype: Any) -> Any:
    """The type to add many numbers in: float32 for half precision."""
    return xp.dtype("float32") if dtype.itemsize == 2 and dtype.kind in "fV" else dtype


def wrapped(xp: Any, index: Any, size: int) -> Any:
    """Indices counted from the front."""
    if not index.size or (xp.minimum.reduce(index, None) if xp is numpy else index.min()) >= 0:
        return index
    return xp.where(index < 0, index + size, index)


_FEW = 4096  # indices up to which what does not depend on them is kept


def along_positions(xp: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    """Positions of `x[i, index[i, j], ...]`: `index` has as many dimensions as x and picks along `dim`."""
    if not index.ndim:
        return index
    if xp is numpy and index.size <= _FEW:
        step, offsets = _offsets(shape or (1,), dim, index.shape)
        return (index if step == 1 else index * step) + offsets
    return _positions(xp, shape or (1,), dim, index)


def _positions(xp: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    steps = _steps(shape)
    places = index * steps[dim] if steps[dim] != 1 else index
    for d, n in enumerate(index.shape):
        if d != dim and n > 1:
            step = steps[d]
            places = places + xp.arange(0, n * step, step).reshape((n,) + (1,) * (index.ndim - d - 1))
    return places


@functools.lru_cache(256)
def _offsets(shape: tuple[int, ...], dim: int, wanted: tuple[int, ...]) -> tuple[int, Any]:
    """How far it is along `dim`, and where the lines along it begin: the same in every call with such shapes."""
    return _steps(shape)[dim], _positions(
        numpy, shape, dim, numpy.zeros((*wanted[:dim], 1, *wanted[dim + 1 :]), numpy.int64)
    )


def row_positions(xp: Any, shape: tuple[int, ...], dim: int, index: Any) -> Any:
    """Positions of `x.take(index, dim)`, as an array of its shape with the dimensions after `dim` as one."""
    if xp is numpy and math.prod(shape) <= _FEW:
        inner, offsets = _row_offsets(shape, dim)
        places = wrapped(xp, index.reshape(-1), shape[dim])
        return (places[:, None] * inner if inner > 1 else places) + offsets
    outer = 1
    for n in shape[:dim]:
        outer *= n
    size = shape[dim]
    inner = _steps(shape)[dim]
    places = wrapped(xp, index.reshape(-1), size) * inner
    if outer > 1:
        places = xp.arange(0, outer * size * inner, size * inner)[:, None] + places
    return places[..., None] + xp.arange(inner) if inner > 1 else places


@functools.lru_cache(256)
def _row_offsets(shape: tuple[int, ...], dim: int) -> tuple[int, Any]:
    """How long a row after `dim` is, and where its elements lie in each of the rows before it: the same in every call with such shapes."""
    outer, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
    offsets = (
        numpy.arange(inner) + numpy.arange(0, outer * shape[dim] * inner, max(shape[dim] * inner, 1))[:, None, None]
    )
    if inner == 1:
        offsets = offsets[..., 0]
    return inner, offsets if outer > 1 else offsets[0]


def _steps(shape: tuple[int, ...]) -> list[int]:
    steps = [1] * len(shape)
    for d in range(len(shape) - 1, 0, -1):
        steps[d - 1] = steps[d] * shape[d]
    return steps


@kernel("add_rows")
def add_rows(xp: Any, out: Any, dim: int, index: Any, rows: Any) -> None:
    """`out[:, index] += rows`, where indices may repeat; `out` is contiguous, `index` has one dimension.

    Wide rows are added many at a time, each round one per place; only what is left then takes the slow way of
    adding element by element.
    """
    inner = _steps(out.shape)[dim]
    if dim == 0 and inner >= 16 and index.size and isinstance(out, numpy.ndarray):  # elsewhere counting means waiting
        index = wrapped(xp, index, out.shape[0])
        rows = rows.reshape(index.size, *out.shape[1:])
        number = xp.arange(index.size)
        last = xp.empty(out.shape[0], number.dtype)
        for _ in range(16):
            last[index] = number[: index.size]
            wins = last[index] == number[: index.size]
            count = int(xp.count_nonzero(wins))
            if count == index.size:
                out[index] += rows
                return
            if count * 8 < index.size or count < 16:
                break
            out[index[wins]] += rows[wins]
            index, rows = index[~wins], rows[~wins]
    xp.add.at(out.reshape(-1), row_positions(xp, out.shape, dim, index).reshape(-1), rows.reshape(-1))


# Index arrays: `x[i, :, j]` is index2(x, i, j, (0, 2)) -------------------------------------------------


def full_index(indices: tuple[Any, ...], where: tuple[int, ...]) -> tuple[Any, ...]:
    """The array library's index: an array at each dimension of `where`, everything elsewhere."""
    index: list[Any] = [slice(None)] * (where[-1] + 1)
    for dim, each in zip(where, indices, strict=True):
        index[dim] = each
    return tuple(index)


def index1(xp: Any, x: Any, i0: Any, where: tuple[int, ...]) -> Any:
    return x.take(i0, axis=where[0])


def index(xp: Any, x: Any, *args: Any) -> Any:
    *indices, where = args
    return xp.ascontiguousarray(x[full_index(tuple(indices), where)])


def index_backward(xp: Any, g: Any, *args: Any) -> Any:
    """Zeros of a shape with `g` added where the indices point."""
    *indices, shape, where = args
    out = xp.zeros(shape, accumulator(xp, g.dtype))
    if g.size:
        add_at(xp, out, tuple(indices), where, g.astype(out.dtype, copy=False))
    return out.astype(g.dtype, copy=False)


def add_at(xp: Any, out: Any, indices: tuple[Any, ...], where: tuple[int, ...], values: Any) -> None:
    """`out[indices] += values`, where places may repeat; `out` is contiguous."""
    if len(indices) == 1:
        index, dim = indices[0], where[0]
        shape = out.shape[:dim] + index.shape + out.shape[dim + 1 :]
        if 0 not in shape:
            raw.add_rows(
                out, dim, index.reshape(-1), values if values.shape == shape else xp.broadcast_to(values, shape)
            )
    elif where == tuple(range(len(where))):
        lead = out.shape[: len(where)]
        line = 0
        for each, n in zip(indices, lead, strict=True):
            line = line * n + wrapped(xp, each, n)
        values = xp.broadcast_to(values, line.shape + out.shape[len(where) :])
        count = 1
        for n in lead:
            count *= n
        if values.size:
            raw.add_rows(out.reshape(count, -1), 0, line.reshape(-1), values.reshape(line.size, -1))
    else:
        places = xp.arange(out.size).reshape(out.shape)[full_index(indices, where)]
        xp.add.at(out.reshape(-1), places.reshape(-1), xp.broadcast_to(values, places.shape).reshape(-1))


def put(xp: Any, out: Any, values: Any, *args: Any) -> None:
    """`out[indices] = values` or `+= values`, in place."""
    *indices, where, accumulate = args
    if not accumulate:
        if where == (0,):
            out[indices[0]] = values
            return
        out[full_index(tuple(indices), where)] = values
    elif out.dtype.kind == "b":
        places = xp.arange(out.size).reshape(out.shape)[full_index(tuple(indices), where)]
        true = xp.zeros(out.size, bool)
        true[places[xp.broadcast_to(xp.asarray(values), places.shape)]] = (
            True  # (a place may come twice, the second time with False)
        )
        out |= true.reshape(out.shape)
    elif out.flags.c_contiguous and out.dtype == accumulator(xp, out.dtype):
        add_at(xp, out, tuple(indices), where, values)
    else:
        whole = xp.array(out, accumulator(xp, out.dtype), order="C")
        add_at(xp, whole, tuple(indices), where, values)
        out[...] = whole


def register(n: int) -> None:
    """Make the kernels for `n` index arrays."""
    kernel(f"index{n}")(index1 if n == 1 else index)
    kernel(f"index{n}_backward")(index_backward)
    writer(f"index_put{n}", keeps=True, anywhere=True)(put)


# Masks over the leading dimensions -----------------------------------------------------------------


@kernel("index_mask")
def index_mask(xp: Any, x: Any, mask: Any) -> Any:
    return x[mask]


@kernel("index_mask_backward")
def index_mask_backward(xp: Any, g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    out = xp.zeros(shape, g.dtype)
    out[mask] = g
    return out


@writer("index_put_mask", keeps=True, anywhere=True)
def put_mask(xp: Any, out: Any, values: Any, mask: Any, accumulate: bool) -> None:
    """`out[mask] = values` or `+= values`, in place."""
    if accumulate:
        out[mask] += values
    elif getattr(values, "ndim", 0) == 0:
        fits = type(values) is int or getattr(values, "dtype", None) is out.dtype
        if fits and mask.shape == out.shape and out.size < _FEW and 0 not in out.strides:
            xp.putmask(out, mask, values)
        elif mask.shape == out.shape:
            raw.masked_fill(out, mask, values, out=out)
        else:
            xp.copyto(out, values, where=mask.reshape(mask.shape + (1,) * (out.ndim - mask.ndim)), casting="unsafe")
    else:
        out[mask] = values

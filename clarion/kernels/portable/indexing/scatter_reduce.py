"""Reductions of values that meet at one place: scatter_reduce and index_reduce, and what their gradients need.

`rows` tells the two apart: with it the index has one dimension and names whole slices (index_reduce).
"""

from __future__ import annotations

from typing import Any

from ....errors import EngineError
from ...everywhere import combine_at
from ...registry import kernel
from .reading import along_positions, row_positions


def _places(xp: Any, shape: tuple[int, ...], dim: int, index: Any, rows: bool) -> Any:
    """Where each value goes, in the flattened array."""
    return (row_positions if rows else along_positions)(xp, shape or (1,), dim, index).reshape(-1)


def _reduce(xp: Any, x: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool, rows: bool) -> Any:
    out = xp.array(x, order="C")
    if src.size:
        combine(xp, out.reshape(-1), _places(xp, x.shape, dim, index, rows), src.reshape(-1), reduce, include_self)
    return out


def combine(xp: Any, flat: Any, places: Any, values: Any, reduce: str, include_self: bool) -> None:
    """Bring `values` together at `places` of `flat`, in place, with what is there if `include_self`."""
    if not include_self:
        flat[places] = start(xp, flat.dtype, reduce)
    if reduce == "sum":
        xp.add.at(flat, places, values)
    elif reduce == "prod":
        combine_at(xp, "multiply", flat, places, values)
    elif reduce == "amax":
        xp.maximum.at(flat, places, values)
    elif reduce == "amin":
        xp.minimum.at(flat, places, values)
    else:
        xp.add.at(flat, places, values)
        count = xp.bincount(places, minlength=flat.size) + (1 if include_self else 0)
        count = xp.maximum(count, 1)
        if flat.dtype.kind in "iu":
            xp.floor_divide(flat, count.astype(flat.dtype), out=flat)
        else:
            flat /= count.astype(flat.dtype)


def start(xp: Any, dtype: Any, reduce: str) -> Any:
    """The value that changes nothing under `reduce`."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return xp.iinfo(dtype).min if reduce == "amax" else xp.iinfo(dtype).max
    return -xp.inf if reduce == "amax" else xp.inf


# One kernel under the names of the operations that differ in what their gradients save.
for _name in ("scatter_reduce", "scatter_reduce_mean", "index_reduce", "index_reduce_mean"):
    kernel(_name)(_reduce)


# What the gradients need; none of it has a gradient of its own -----------------------------------------


@kernel("meeting_count")
def meeting_count(xp: Any, g: Any, index: Any, dim: int, include_self: bool, rows: bool) -> Any:
    """How many values meet at each place (at least one), in the shape and type of `g`."""
    places = _places(xp, g.shape, dim, index, rows)
    count = xp.bincount(places, minlength=g.size) + (1 if include_self else 0)
    return xp.maximum(count, 1).astype(g.dtype).reshape(g.shape)


@kernel("meeting_shares")
def meeting_shares(xp: Any, x: Any, index: Any, src: Any, out: Any, dim: int, include_self: bool, rows: bool) -> Any:
    """The share of each value of `x` and of `src` in the extreme at its place: ties share evenly."""
    places = _places(xp, x.shape, dim, index, rows)
    flat = out.reshape(-1)
    mine = (x.reshape(-1) == flat).astype(x.dtype)
    theirs = (src.reshape(-1) == flat[places]).astype(x.dtype)
    ties = mine.copy()
    xp.add.at(ties, places, theirs)
    ties[ties == 0] = 1
    mine /= ties
    if not include_self:
        mine[places] = 0
    return mine.reshape(x.shape), (theirs / ties[places]).reshape(src.shape)


def _zeros(xp: Any, index: Any, src: Any, shape: tuple[int, ...], dim: int, rows: bool) -> tuple[Any, Any]:
    """Which values are zero, and how many zeros meet where each value goes."""
    size = 1
    for n in shape:
        size *= n
    places = _places(xp, shape, dim, index, rows)
    zero = src.reshape(-1) == 0
    return zero, xp.bincount(places[zero], minlength=size)[places]


@kernel("lone_zero")
def lone_zero(xp: Any, index: Any, src: Any, shape: tuple[int, ...], dim: int, rows: bool) -> Any:
    """Which values are zero and meet no other zero: the product of the rest is their gradient."""
    zero, count = _zeros(xp, index, src, shape, dim, rows)
    return (zero & (count == 1)).reshape(src.shape)


@kernel("no_second_zero")
def no_second_zero(xp: Any, g: Any, index: Any, src: Any, shape: tuple[int, ...], dim: int, rows: bool) -> Any:
    """`g` itself: the mark by which a second derivative finds out whether it is known."""
    return g


@kernel("no_second_zero_backward")
def no_second_zero_backward(xp: Any, g: Any, index: Any, src: Any, shape: tuple[int, ...], dim: int, rows: bool) -> Any:
    if (_zeros(xp, index, src, shape, dim, rows)[1] > 1).any():
        raise EngineError(
            f"{'index' if rows else 'scatter'}_reduce(): Double backward is unsupported for src when >1 zeros in src "
            "are scattered to the same position in self"
        )
    return g


# Segments: `index` tells the segment of each value, or `segments` for a value that is in none ---------------------


@kernel("segment_reduce")
def segment_reduce(xp: Any, x: Any, index: Any, dim: int, segments: int, reduce: str, initial: Any) -> Any:
    shape = (*x.shape[:dim], segments + 1, *x.shape[dim + 1 :])
    plain = "sum" if reduce == "mean" else reduce
    first = start(xp, x.dtype, plain) if initial is None or reduce in ("amax", "amin") else initial
    out = _reduce(xp, xp.full(shape, first, x.dtype), index, x, dim, plain, True, False)
    if reduce == "mean":
        count = _segment_sizes(xp, out, index, dim)
        out = xp.where(count == 0, xp.nan if initial is None else initial, out / xp.maximum(count, 1)).astype(x.dtype)
    elif initial is not None and reduce in ("amax", "amin"):
        out = xp.where(out < initial if reduce == "amax" else out > initial, initial, out).astype(x.dtype)
    return xp.ascontiguousarray(out[(slice(None),) * dim + (slice(0, segments),)])


def _segment_sizes(xp: Any, out: Any, index: Any, dim: int) -> Any:
    count = xp.bincount(_places(xp, out.shape, dim, index, False), minlength=out.size)
    return count.reshape(out.shape).astype(out.dtype)


@kernel("segment_weights")
def segment_weights(xp: Any, x: Any, index: Any, out: Any, dim: int, segments: int, reduce: str, initial: Any) -> Any:
    """What part of its segment's gradient each value gets; none if it is in no segment.

    Values equal to an extreme share its gradient (a NaN is one); a zero or NaN in a product gets that of the others.
    """
    room = [(0, 0)] * x.ndim
    room[dim] = (0, 1)
    out = xp.pad(out, room)
    inside = (index < segments).astype(x.dtype)
    if reduce == "sum":
        return inside
    if reduce == "mean":
        return inside / xp.maximum(xp.take_along_axis(_segment_sizes(xp, out, index, dim), index, dim), 1)
    value = xp.take_along_axis(out, index, dim)
    if reduce == "prod":
        return inside * _others(xp, x, index, value, out, dim, 1 if initial is None else initial)
    hit = (x == value) | ((x != x) & (value != value))
    ties = xp.bincount(_places(xp, out.shape, dim, index, False), hit.reshape(-1), out.size).reshape(out.shape)
    return inside * (hit / xp.maximum(xp.take_along_axis(ties, index, dim), 1)).astype(x.dtype)


def _others(xp: Any, x: Any, index: Any, product: Any, out: Any, dim: int, first: Any) -> Any:
    """For each value the product of the others of its segment; a zero or NaN is left out, not divided by."""
    nan = x != x
    hard = (x == 0) | nan
    ones = xp.ones_like(x)
    easy = _reduce(xp, xp.full(out.shape, first, x.dtype), index, xp.where(hard, ones, x), dim, "prod", True, False)
    places = _places(xp, out.shape, dim, index, False)

    def others(what: Any) -> Any:
        count = xp.bincount(places, what.reshape(-1), out.size).reshape(out.shape)
        return xp.take_along_axis(count, index, dim) - what

    with_nan, with_hard = others(nan) > 0, others(hard) > 0
    rest = xp.where(with_hard, xp.zeros_like(x), xp.take_along_axis(easy, index, dim))
    rest = xp.where(with_nan, xp.full(x.shape, xp.nan, x.dtype), rest)
    return xp.where(hard, rest, product / xp.where(hard, ones, x))

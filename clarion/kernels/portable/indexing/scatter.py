"""gather and scatter, the index_* family, take and put, masks: reading and writing at places that arrays name.

Indices are in range and counted from the front, but for `take` and `put`, where they may be negative.
"""

from __future__ import annotations

from typing import Any

from ...coo import Coo
from ...everywhere import combine_at
from ...registry import kernel, raw
from .reading import accumulator, along_positions, wrapped, writer

# Along a dimension: the index has as many dimensions as x ----------------------------------------------


@kernel("gather")
def gather(xp: Any, x: Any, index: Any, dim: int) -> Any:
    if not index.size:
        return xp.empty(index.shape, x.dtype)
    return x.reshape(-1).take(along_positions(xp, x.shape, dim, index))


kernel("sparse_gather")(gather)


@kernel("gather_sparse_backward")
def gather_sparse_backward(xp: Any, g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """`g` at the places that `gather` read; those that it read twice add up when somebody needs the sum."""
    if not shape:  # the one element there is has no place
        return Coo(xp.zeros((0, g.size), xp.int64), g.reshape(-1).copy(), shape)
    places = list(xp.indices(index.shape)) or [index]
    places[dim] = index
    return Coo(xp.stack([each.reshape(-1) for each in places]), g.reshape(-1).copy(), shape)


@kernel("gather_backward")
def gather_backward(xp: Any, g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Zeros of a shape with `g` added at the places that `gather` read."""
    out = xp.zeros(shape, accumulator(xp, g.dtype))
    if index.size:
        xp.add.at(out.reshape(-1), along_positions(xp, shape, dim, index).reshape(-1), g.reshape(-1))
    return out.astype(g.dtype, copy=False)


def _part(src: Any, index: Any) -> Any:
    """The corner of `src` that goes with `index`, in one row."""
    if src.shape == index.shape:
        return src.reshape(-1)
    return src[tuple([slice(n) for n in index.shape])].reshape(-1)


@writer("scatter")
def scatter(xp: Any, out: Any, index: Any, src: Any, dim: int) -> None:
    if index.size:
        out.reshape(-1)[along_positions(xp, out.shape, dim, index).reshape(-1)] = _part(src, index)


@writer("scatter_value")
def scatter_value(xp: Any, out: Any, index: Any, dim: int, value: Any) -> None:
    if index.size:
        out.reshape(-1)[along_positions(xp, out.shape, dim, index).reshape(-1)] = value


@writer("scatter_add", adds=True)
def scatter_add(xp: Any, out: Any, index: Any, src: Any, dim: int) -> None:
    if index.size:
        xp.add.at(out.reshape(-1), along_positions(xp, out.shape, dim, index).reshape(-1), _part(src, index))


@writer("scatter_combine", adds=True)
def scatter_combine(xp: Any, out: Any, index: Any, src: Any, dim: int, how: str) -> None:
    """`scatter(reduce='add' or 'multiply')`; `src` may be a number."""
    if index.size:
        part = _part(src, index) if getattr(src, "ndim", 0) or out.ndim == 0 else src
        places = along_positions(xp, out.shape, dim, index).reshape(-1)
        combine_at(xp, how, out.reshape(-1), places, part)


# Rows along a dimension: the index has one dimension ---------------------------------------------------


def _one(x: Any) -> Any:
    return x.reshape(1) if x.ndim == 0 else x


@kernel("index_select")
def index_select(xp: Any, x: Any, index: Any, dim: int) -> Any:
    if x.ndim == 0:
        return x.reshape(1).take(index.reshape(-1)).reshape(())
    return x.take(index.reshape(-1), axis=dim)


@kernel("index_select_backward")
def index_select_backward(xp: Any, g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    """Zeros of a shape with the rows of `g` added where `index_select` read them."""
    out = xp.zeros(shape, accumulator(xp, g.dtype))
    if g.size:
        raw.add_rows(_one(out), dim, index.reshape(-1), _one(g).astype(out.dtype, copy=False))
    return out.astype(g.dtype, copy=False)


@writer("index_add", adds=True)
def index_add(xp: Any, out: Any, index: Any, source: Any, dim: int, alpha: Any) -> None:
    if source.size:
        rows = _one(source) if alpha == 1 else _one(source) * xp.asarray(alpha).astype(source.dtype)
        raw.add_rows(_one(out), dim, index.reshape(-1), rows)


@writer("index_copy")
def index_copy(xp: Any, out: Any, index: Any, source: Any, dim: int) -> None:
    if source.size:
        _one(out)[(slice(None),) * dim + (index.reshape(-1),)] = _one(source)


@writer("index_fill", keeps=True)
def index_fill(xp: Any, out: Any, index: Any, dim: int, value: Any) -> None:
    _one(out)[(slice(None),) * dim + (index.reshape(-1),)] = value


@writer("index_fill_tensor", keeps=True)
def index_fill_tensor(xp: Any, out: Any, index: Any, value: Any, dim: int) -> None:
    index_fill(xp, out, index, dim, value)


# The flattened array -----------------------------------------------------------------------------------


@kernel("take")
def take(xp: Any, x: Any, index: Any) -> Any:
    return x.reshape(-1).take(index) if index.size else xp.empty(index.shape, x.dtype)


@kernel("take_backward")
def take_backward(xp: Any, g: Any, index: Any, shape: tuple[int, ...]) -> Any:
    out = xp.zeros(shape, accumulator(xp, g.dtype))
    if index.size:
        xp.add.at(out.reshape(-1), wrapped(xp, index.reshape(-1), out.size), g.reshape(-1))
    return out.astype(g.dtype, copy=False)


@writer("put", adds=True, keeps=True)
def put(xp: Any, out: Any, index: Any, source: Any, accumulate: bool) -> None:
    if index.size:
        values = source.reshape(-1) if getattr(source, "ndim", 0) else source
        if accumulate:
            xp.add.at(out.reshape(-1), wrapped(xp, index.reshape(-1), out.size), values)
        else:
            out.reshape(-1)[index.reshape(-1)] = values


# Masks -------------------------------------------------------------------------------------------------


@kernel("masked_select")
def masked_select(xp: Any, x: Any, mask: Any) -> Any:
    if x.shape != mask.shape:
        shape = xp.broadcast_shapes(x.shape, mask.shape)
        x, mask = xp.broadcast_to(x, shape), xp.broadcast_to(mask, shape)
    return x[mask]


@kernel("masked_select_backward")
def masked_select_backward(xp: Any, g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """Zeros with `g` put at the mask, in the shape that x and the mask broadcast to."""
    shape = xp.broadcast_shapes(shape, mask.shape)
    out = xp.zeros(shape, g.dtype)
    out[xp.broadcast_to(mask, shape)] = g
    return out


@kernel("masked_scatter")
def masked_scatter(xp: Any, x: Any, mask: Any, source: Any) -> Any:
    shape = xp.broadcast_shapes(x.shape, mask.shape)
    out = xp.array(xp.broadcast_to(x, shape), order="C")
    mask = xp.broadcast_to(mask, shape)
    out[mask] = source.reshape(-1)[: xp.count_nonzero(mask)]
    return out


@kernel("masked_scatter_backward")
def masked_scatter_backward(xp: Any, g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of the values that were put at the mask, and zeros for those left over."""
    out = xp.zeros(shape, g.dtype)
    part = g[xp.broadcast_to(mask, g.shape)]
    out.reshape(-1)[: part.size] = part
    return out


@kernel("masked_scatter_backward_backward")
def masked_scatter_backward_backward(xp: Any, g: Any, mask: Any, shape: tuple[int, ...]) -> Any:
    out = xp.zeros(shape, g.dtype)
    mask = xp.broadcast_to(mask, shape)
    out[mask] = g.reshape(-1)[: xp.count_nonzero(mask)]
    return out


@kernel("nonzero")
def nonzero(xp: Any, x: Any) -> Any:
    if x.ndim == 0:
        return xp.empty((int(x != 0), 0), xp.int64)
    return xp.stack(xp.nonzero(x)).astype(xp.int64, copy=False).T  # the places along one dimension lie together

"""Rows of a table by index, and the table of gradients that goes back."""

from __future__ import annotations

from typing import Any

from ....errors import ArgumentIndexError
from ...coo import Coo
from ...registry import kernel


@kernel("embedding")
def embedding(xp: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if indices.size and (indices.min() < 0 or indices.max() >= weight.shape[0]):
        raise ArgumentIndexError(
            "index out of range in self\n"
            f"The indices go from {indices.min()} to {indices.max()}; the table has {weight.shape[0]} rows."
        )
    return weight.take(indices, axis=0)


@kernel("embedding_dense_backward")
def embedding_dense_backward(
    xp: Any, g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """Zeros for the table, with every row of `g` added where its index points."""
    index = indices.reshape(-1)
    width = g.shape[-1]
    result = xp.zeros((rows, width), g.dtype)
    if not index.size or not width:
        return result
    values = g.reshape(-1, width)
    if padding_idx >= 0:
        kept = index != padding_idx
        index, values = index[kept], values[kept]
        if not index.size:
            return result
    # Sixteen bits are sorted by radix, five times as fast.
    order = xp.argsort(index.astype(xp.uint16) if rows <= 65536 else index, kind="stable")
    ordered = index[order]
    starts = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), ordered[1:] != ordered[:-1])))
    counts = xp.diff(xp.concatenate((starts, xp.asarray([ordered.size]))))
    add_runs(xp, result, ordered[starts], values, order, starts, counts)
    if scale_grad_by_freq:
        result[ordered[starts]] /= counts[:, None].astype(g.dtype)
    return result


@kernel("sparse_embedding")
def sparse_embedding(xp: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    return embedding(xp, weight, indices, padding_idx, scale_grad_by_freq)


@kernel("embedding_sparse_backward")
def embedding_sparse_backward(
    xp: Any, g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The rows of `g` at their indices; those that occur twice add up when somebody needs the sum."""
    index, values = indices.reshape(-1).astype(xp.int64), g.reshape(indices.size, g.shape[-1])
    if padding_idx >= 0:
        kept = index != padding_idx
        index, values = index[kept], values[kept]
    if scale_grad_by_freq:
        values = values / xp.bincount(index, minlength=rows)[index][:, None].astype(g.dtype)
    return Coo(index[None], values.copy(), (rows, g.shape[-1]))


FEW = 4  # so often an index may repeat and still be added in rounds


def add_runs(xp: Any, result: Any, places: Any, values: Any, order: Any, starts: Any, counts: Any) -> None:
    """Sum the runs of equal indices (found by sorting) into their places.

    Most indices are rare: their first, second, … occurrences are added in a few rounds over all of them. The frequent
    ones, which are few, are summed run by run.
    """
    if order.size <= 256:  # too few to go over them several times
        result[places] = xp.add.reduceat(values[order], starts, axis=0)
        return
    result[places] = values[order[starts]]
    for number in range(1, FEW):
        more = counts > number
        if not more.any():
            return
        result[places[more]] += values[order[starts[more] + number]]
    often = counts > FEW - 1
    rest = order[xp.repeat(often, counts)]
    begins = xp.concatenate((xp.zeros(1, counts.dtype), xp.cumsum(counts[often])))[:-1]
    # What the rounds have added is in these sums again.
    result[places[often]] = xp.add.reduceat(values[rest], begins, axis=0)


@kernel("zero_rows_at")
def zero_rows_at(xp: Any, x: Any, indices: Any, row: int) -> Any:
    """x with zeros where `indices` is `row`: padding takes no gradient."""
    return xp.where((indices == row)[..., None], x.dtype.type(0), x)


@kernel("index_counts")
def index_counts(xp: Any, indices: Any, rows: int) -> Any:
    """How often each index occurs, at each index."""
    return xp.bincount(indices.reshape(-1), minlength=rows)[indices][..., None].astype(float)


def renorm_rows(xp: Any, weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows that `indices` name down to `max_norm`, in place."""
    named = xp.unique(indices)
    rows = weight[named]
    size = xp.linalg.norm(rows, ord=norm_type, axis=1).astype(float)
    large = size > max_norm
    weight[named[large]] = rows[large] * (max_norm / (size[large] + 1e-7)).astype(weight.dtype)[:, None]

"""Sums, means and maxima of the rows of a table, bag by bag."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.devices import visible, xp_of
from ...core.dtypes import i64, int32
from ...core.tensor import new_tensor
from ...errors import ArgumentValueError, EngineError, NotSupportedError
from ..faces.api import functional
from ..faces.options import warn_user
from .embedding import embedding_op, embedding_renorm, sparse_embedding_op


def _xp(tensor: Any) -> Any:
    return xp_of(tensor._array)


def _bags(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, Any, int]:
    """The indices in one row, the bag of each, and the number of bags."""
    if input.dim() == 2:
        if offsets is not None:
            raise ArgumentValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        count, size = input.shape
        return input.reshape(-1), _xp(input).arange(count).repeat(size), count
    if input.dim() != 1:
        raise ArgumentValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ArgumentValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ArgumentValueError("offsets has to be a 1D Tensor")
    starts = offsets._array
    if not starts.size and include_last_offset:
        raise EngineError("include_last_offset: number of offset should be at least 1")
    if starts.size and starts[0] != 0:
        raise EngineError(
            f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {starts[0]}"
        )
    if starts.size and starts[-1] > input.numel():
        raise EngineError(
            f"offsets[-1] can not be greater than input's length({input.numel()}) but got offsets[-1] of {starts[-1]}"
        )
    count = starts.size - 1 if include_last_offset else starts.size
    return input, _xp(input).searchsorted(starts[:count], _xp(input).arange(input.numel()), "right") - 1, count


def _winners(values: Any, bag: Any, count: int) -> tuple[Any, Any]:
    """For each bag and column the place of the largest row, and which bags have rows at all."""
    xp = xp_of(values)
    winner, filled = xp.zeros((count, values.shape[1]), i64), xp.zeros(count, bool)
    starts = xp.flatnonzero(xp.diff(bag, prepend=-1))
    if starts.size:
        best = xp.maximum.reduceat(values, starts, axis=0)
        runs = xp.diff(starts, append=len(bag))
        hit = values == xp.repeat(best, runs, axis=0)
        places = xp.where(hit, xp.arange(len(bag))[:, None], len(bag))
        filled[bag[starts]] = True
        winner[filled] = xp.minimum(xp.minimum.reduceat(places, starts, axis=0), len(bag) - 1)
    return winner, filled


def _largest(rows: Any, bag: Any, count: int) -> Any:
    """The largest of each bag's rows, element by element; empty bags give 0."""
    if not rows._array.size:
        return rows.new_zeros((count, rows._array.shape[1])).index_add(0, new_tensor(bag), rows)
    winner, filled = _winners(rows._array, bag, count)
    return rows.gather(0, new_tensor(winner)).masked_fill(new_tensor(~filled[:, None]), 0)


def largest_places(weight: Any, indices: Any, bag: Any, count: int) -> Any:
    """For each bag and column which row of the table was the largest; 0 for empty bags."""
    winner, filled = _winners(weight[indices], bag, count)
    return xp_of(weight).where(filled[:, None], indices[winner] if indices.size else winner, 0)


def _check(input: Any, weight: Any, per_sample_weights: Any, mode: str, scale: bool, sparse: bool) -> None:
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ArgumentValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})"
        )
    if input._array.dtype not in (i64, int32.numpy):
        raise EngineError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.type()} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise EngineError(
            f"embedding_bag: expected weight to have the same type as per_sample_weights, but got {weight.dtype} and "
            f"{per_sample_weights.dtype}"
        )
    if not weight.is_floating_point():
        raise EngineError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
            f"Double; but got {weight.type()} instead (while checking arguments for embedding_bag)"
        )
    if weight.dim() != 2:
        raise ArgumentValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ArgumentValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale:
        raise ArgumentValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ArgumentValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotSupportedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )


def _check_range(indices: Any, rows: int) -> None:
    if indices.size and visible(indices) and (indices.min() < 0 or indices.max() >= rows):
        place = int(((indices < 0) | (indices >= rows)).argmax())
        raise EngineError(
            f"Index {place} of input takes value {int(indices[place])} which is not in the valid range [0, {rows})\n"
            "Expected idx >= 0 && idx < num_embeddings to be true, but got false."
        )


@functional()
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows that each bag of indices names."""
    if weight._array.dtype.kind in "iu" and input.is_floating_point():
        warn_user(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    _check(input, weight, per_sample_weights, mode, scale_grad_by_freq, sparse)
    indices, bag, count = _bags(input, offsets, include_last_offset)
    _check_range(indices._array, weight.shape[0])
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if max_norm is not None:
        embedding_renorm(weight, indices, max_norm, norm_type)
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise EngineError(
                f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
            )
        kept = _xp(indices).flatnonzero(indices._array != padding_idx % rows)
        indices, bag = indices[new_tensor(kept)], bag[kept]
        factors = None if factors is None else factors[new_tensor(kept)]
    few = sparse and weight.is_leaf and weight.requires_grad and modes.recording()
    picked = (sparse_embedding_op if few else embedding_op).call(weight, indices, -1, scale_grad_by_freq)
    if mode == "max":
        return _largest(picked, bag, count)
    if factors is not None:
        picked = picked * factors.unsqueeze(1)
    total = picked.new_zeros((count, weight.shape[1])).index_add(0, new_tensor(bag), picked)
    if mode == "sum":
        return total
    sizes = xp_of(bag).bincount(bag, minlength=count).clip(1)[:, None]
    return total / new_tensor(sizes.astype(total._array.dtype))

"""Distinct values and bins: unique, isin, searchsorted, bucketize, bincount, histc, one_hot."""

from __future__ import annotations

import math
from operator import index
from typing import Any

from ...core.description import normalize_dim
from ...core.devices import visible, xp_of
from ...core.dtypes import FROM_NUMPY, i64, int32, result_type
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.batched.levels import Mapped, all_samples
from ...kernels.blocks import in_range, largest, smallest
from ..faces.api import functional, public
from ..faces.options import warn_once
from ..faces.samples import each_sample
from ..faces.typed import no_gradient, not_implemented
from .scatter import tensor_argument

_three = "out inverse counts"
unique_op = Op("unique", "x", outputs=_three, node="Unique2Backward0", moves=True).vjp(x=not_implemented("_unique2"))
unique_dim_op = Op("unique_dim", "x", "dim", outputs=_three, moves=True).vjp(x=not_implemented("unique_dim"))
unique_consecutive_op = Op("unique_consecutive", "x", "dim", outputs=_three, moves=True)
unique_consecutive_op.vjp(x=not_implemented("unique_consecutive"))

searchsorted_op = Op("searchsorted", "edges values", "right dtype", moves=True, differentiable=False)
bincount_op = Op("bincount", "x weights?", "minlength", node="NotImplemented", moves=True)
bincount_op.vjp(weights=no_gradient("bincount"))
histc_op = Op("histc", "x", "bins low high", moves=True, differentiable=False)
isin_op = Op("isin", "x y", "invert", promote="common", moves=True, differentiable=False)
one_hot_op = Op("one_hot", "x", "classes", moves=True, differentiable=False)


def _chosen(results: tuple[Any, ...], inverse: bool, counts: bool) -> Any:
    chosen = (results[0], *((results[1],) if inverse else ()), *((results[2],) if counts else ()))
    return chosen if len(chosen) > 1 else chosen[0]


@public()
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The distinct elements (or slices along `dim`), in order; where each came from; how often each is there."""
    tensor_argument("unique", "input", 1, input)
    if input._array.dtype.kind == "c":
        raise NotSupportedError(f"\"unique\" not implemented for '{FROM_NUMPY[input._array.dtype].old}'")
    if dim is None:
        return _chosen(unique_op.call(input), return_inverse, return_counts)
    return _chosen(unique_dim_op.call(input, _slice_dim(input, dim)), return_inverse, return_counts)


def _slice_dim(input: Any, dim: int) -> int:
    shape = input._array.shape
    if not shape:
        raise ArgumentIndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = normalize_dim(dim, len(shape))
    if shape[dim] and 0 in shape:
        raise ShapeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return dim


@public("_unique2", method=False)
def unique2(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    """`unique` as PyTorch computes it: always three results, empty where nobody asked for them."""
    tensor_argument("_unique2", "input", 1, input)
    return _asked(unique_op.call(input), return_inverse, return_counts)


@public("_unique", method=False)
def unique_pair(input: Any, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, ...]:
    """`_unique2` without counts."""
    return unique2(input, sorted, return_inverse)[:2]


def unique_dim(
    input: Any, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, ...]:
    """`_unique2` for slices along a dimension."""
    tensor_argument("unique_dim", "input", 1, input)
    return unique_dim_op.call(input, _slice_dim(input, dim))  # type: ignore[no-any-return]


def _asked(results: tuple[Any, ...], inverse: bool, counts: bool) -> tuple[Tensor, ...]:
    values, places, times = results
    return values, places if inverse else places.new_empty(0), times if counts else times.new_empty(0)


@public()
def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """`input` without elements (or slices along `dim`) that are equal to the one before."""
    tensor_argument("unique_consecutive", "input", 1, input)
    dim = None if dim is None else _slice_dim(input, dim)
    return _chosen(unique_consecutive_op.call(input, dim), return_inverse, return_counts)


@public(method=False, out=True)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which elements are among the others? Either may be a number; `assume_unique` is a promise that speeds up PyTorch."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        tensor_argument("isin", "elements", 1, elements)
    like = elements if isinstance(elements, Tensor) else test_elements
    pair = [_as_tensor(elements, like), _as_tensor(test_elements, like)]
    for each in pair:
        if each._array.dtype.kind in "bc":
            raise EngineError(f"Unsupported input type encountered for isin(): {FROM_NUMPY[each._array.dtype].old}")
    return isin_op.call(*pair, bool(invert))


# Bins ------------------------------------------------------------------------------------------------------


def _as_tensor(value: Any, like: Any) -> Any:
    return (
        value
        if isinstance(value, Tensor)
        else like.new_tensor(value, dtype=FROM_NUMPY[result_type([like._array, value])])
    )


def _check_edges(edges: Any, values: Any) -> None:
    for x, role in ((values, "input value"), (edges, "boundary")):
        if not x.is_contiguous():
            warn_once(
                f"torch.searchsorted(): {role} tensor is non-contiguous, this will lower the performance due to extra data "
                f"copy when converting non-contiguous tensor to contiguous, please use contiguous {role} tensor if possible. "
                "This message will only appear once per program."
            )
    mine, theirs = edges._array.shape, values._array.shape
    if not mine:
        raise ShapeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if len(mine) > 1 and not theirs:
        raise ShapeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(mine)}) and input value's dim(0) numel(1)"
        )
    if len(mine) > 1 and mine[:-1] != theirs[:-1]:
        raise ShapeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(mine)} and input value "
            f"tensor {list(theirs)}"
        )
    kind = FROM_NUMPY[result_type([edges._array, values._array])]
    if kind.numpy.kind in "cb":
        raise NotSupportedError(f"\"searchsorted_out_cpu\" not implemented for '{kind.old}'")


@public(method=False, out=True)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Where to insert each value so that the sequence stays sorted."""
    if not isinstance(sorted_sequence, Tensor):
        tensor_argument("searchsorted", "sorted_sequence", 1, sorted_sequence)
    if side is not None and side not in ("left", "right"):
        raise EngineError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise EngineError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    input = _as_tensor(input, sorted_sequence)
    if sorter is not None:
        sorted_sequence = _reordered(sorted_sequence, sorter)
    _check_edges(sorted_sequence, input)
    kind = int32.numpy if out_int32 else i64
    return searchsorted_op.call(sorted_sequence, input, bool(right or side == "right"), kind)


def _reordered(edges: Any, sorter: Any) -> Any:
    tensor_argument("searchsorted", "sorter", 3, sorter)
    if sorter._array.shape != edges._array.shape:
        raise ShapeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(edges._array.shape)}and got sorter tensor {list(sorter._array.shape)}"
        )
    if sorter._array.dtype != i64:
        raise EngineError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            f"{FROM_NUMPY[sorter._array.dtype].old}"
        )
    if not in_range(sorter._array, edges._array.shape[-1]):
        raise EngineError("torch.searchsorted(): sorter index out of range")
    return new_tensor(xp_of(edges._array).take_along_axis(edges._array, sorter._array, -1))


@public(method=False, out=True)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """The bucket of each value: the first boundary that is not smaller (or, with `right`, that is greater)."""
    tensor_argument("bucketize", "boundaries", 2, boundaries)
    if boundaries._array.ndim != 1:
        raise ShapeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    input = _as_tensor(input, boundaries)
    _check_edges(boundaries, input)
    return searchsorted_op.call(boundaries, input, bool(right), int32.numpy if out_int32 else i64)


@public()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, … is there, or the sum of the weights of each."""
    tensor_argument("bincount", "input", 1, input)
    array = input._array
    if array.dtype.kind not in "iu":
        raise NotSupportedError(f"\"bincount_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    if minlength < 0:
        raise EngineError("minlength should be >= 0")
    if array.ndim != 1 or (array.size and all_samples(array).min() < 0):
        raise EngineError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._array.shape != array.shape:
        raise ShapeError("weights should be 1-d and have the same length as input")
    return bincount_op.call(input, weights, minlength)


@public(out=True)
def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements lie in each of `bins` bins of equal width between `min` and `max`."""
    tensor_argument("histc", "input", 1, input)
    array = input._array
    if not isinstance(bins, int):
        raise ArgumentTypeError(f"histc(): argument 'bins' must be int, not {type(bins).__name__}")
    if float(min) > float(max):
        raise EngineError("torch.histc: max must be larger than min")
    if array.dtype.kind not in "fV":
        raise NotSupportedError(f"\"histogram_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    if bins <= 0:
        raise EngineError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = float(min), float(max)
    if low == high and isinstance(array, Mapped):  # each sample has limits of its own
        return each_sample(lambda x: histc(x, bins, min, max), input)
    if low == high and array.size and not input.is_meta:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise EngineError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    return histc_op.call(input, bins, low, high)


@functional()
def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A vector of zeros with a 1 at each class."""
    if not isinstance(tensor, Tensor) or tensor._array.dtype != i64:
        raise EngineError("one_hot is only applicable to index tensor of type LongTensor.")
    array, num_classes = tensor._array, index(num_classes)  # (a tensor with one integer will do)
    if isinstance(array, Mapped) and num_classes <= 0:
        raise EngineError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
        )
    if array.size == 0 or isinstance(array, Mapped):
        if num_classes <= 0:
            raise EngineError("Can not infer total number of classes from empty tensor.")
        return one_hot_op.call(tensor, num_classes)
    if visible(array) and smallest(array) < 0:
        raise EngineError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(largest(array)) + 1
    elif visible(array) and largest(array) >= num_classes:
        raise EngineError("Class values must be smaller than num_classes.")
    return one_hot_op.call(tensor, num_classes)

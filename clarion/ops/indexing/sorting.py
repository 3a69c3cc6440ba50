"""Order: sort, topk, kthvalue, median, mode. Parameters `dim` are counted from the front."""

from __future__ import annotations

from typing import Any

from ...core import return_types
from ...core.description import normalize_dim
from ...core.dtypes import FROM_NUMPY
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentIndexError, EngineError, NotSupportedError
from ..faces.api import public, with_numpys_names
from ..faces.options import integer
from ..faces.strict_out import strict_out
from .scatter import tensor_argument

sort_op = Op("sort", "x", "dim descending", outputs="values indices", moves=True)
sort_stable_op = Op("sort_stable", "x", "dim descending", outputs="values indices", node="SortBackward1", moves=True)
for _op in (sort_op, sort_stable_op):
    _op.vjp(x=lambda g, indices, x_shape, dim, ops: ops.place_along(g, indices, x_shape, dim, True))

argsort_op = Op("argsort", "x", "dim descending", moves=True, differentiable=False)

topk_op = Op("topk", "x", "k dim largest", outputs="values indices", moves=True)
topk_unsorted_op = Op("topk_unsorted", "x", "k dim largest", outputs="values indices", node="TopkBackward0", moves=True)
for _op in (topk_op, topk_unsorted_op):
    _op.vjp(x=lambda g, indices, x_shape, dim, ops: ops.place_along(g, indices, x_shape, dim, True))

kthvalue_op = Op("kthvalue", "x", "k dim keepdim", outputs="values indices", moves=True)
mode_op = Op("mode", "x", "dim keepdim", outputs="values indices", moves=True)
median_dim_op = Op("median_dim", "x", "dim keepdim", outputs="values indices", node="MedianBackward1", moves=True)
nanmedian_dim_op = Op(
    "nanmedian_dim", "x", "dim keepdim", outputs="values indices", node="NanmedianBackward1", moves=True
)
for _op in (kthvalue_op, mode_op, median_dim_op, nanmedian_dim_op):
    _op.vjp(x=lambda g, indices, x_shape, dim, keepdim, ops: ops.place_along(g, indices, x_shape, dim, keepdim))

median_op = Op("median", "x")
nanmedian_op = Op("nanmedian", "x")
for _op in (median_op, nanmedian_op):
    # (a gradient of NaN reaches the elements that are the median, not the others: 0 * NaN would)
    _op.vjp(x=lambda g, x, out, ops: _shared(g, ops.tie_share(x, out, None), ops))


def _shared(g: Any, share: Any, ops: Any) -> Any:
    return ops.where(share == 0, 0, g * share)


def _axis(name: str, x: Any, dim: Any) -> int:
    if not isinstance(x, Tensor):
        tensor_argument(name, "input", 1, x)
    return normalize_dim(dim, x._array.ndim)


def _no_complex(name: str, x: Any) -> None:
    if x._array.dtype.kind == "c":
        raise NotSupportedError(f"\"{name}\" not implemented for '{FROM_NUMPY[x._array.dtype].old}'")


def _sort_axis(name: str, input: Any, dim: Any) -> int:
    axis = _axis(name, input, dim)
    if input._array.dtype.kind == "c":
        raise EngineError(" Sort does not support complex dtypes on CPU")
    return axis


@public(out=True)
@with_numpys_names
def sort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    """The elements in order along a dimension, and where they were."""
    dim = _sort_axis("sort", input, dim)
    op = sort_stable_op if stable else sort_op
    return return_types.filled(return_types.sort, op.call(input, dim, bool(descending)))


@public(out=True)
@with_numpys_names
def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that sort a tensor along a dimension."""
    dim = _sort_axis("argsort", input, dim)
    if stable:
        return sort_stable_op.call(input.detach(), dim, bool(descending))[1]
    return argsort_op.call(input, dim, bool(descending))


@public(out=True)
def msort(input: Any) -> Any:
    """The elements in order along the first dimension."""
    return sort_op.call(input, _sort_axis("sort", input, 0), False)[0]


@public(out=True)
@with_numpys_names
def topk(input: Any, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The `k` largest (or smallest) elements along a dimension, and where they are."""
    if not isinstance(input, Tensor):
        tensor_argument("topk", "input", 1, input)
    array = input._array
    dim = normalize_dim(dim, array.ndim)
    kind = array.dtype.kind
    if kind in "cb":
        raise EngineError(f"topk does not support {'complex' if kind == 'c' else 'bool'} dtypes on CPU")
    if type(k) is not int:
        k = integer("topk", "k", 2, k)
    n = array.shape[dim] if array.ndim else 1
    if not 0 <= k <= n:
        raise EngineError(f"selected index k out of range\nk is {k}, and dimension {dim} of the input has {n} elements")
    op = topk_op if sorted else topk_unsorted_op
    return return_types.filled(return_types.topk, op.call(input, k, dim, bool(largest)))


def _reduced_axis(name: str, input: Any, dim: Any) -> int:
    """The dimension of a reduction that has no value for nothing."""
    axis = _axis(name, input, dim)
    array = input._array
    if array.dtype.kind in "cb":
        raise NotSupportedError(f"\"{name}_cpu\" not implemented for '{FROM_NUMPY[array.dtype].old}'")
    if array.ndim and array.shape[axis] == 0:
        raise ArgumentIndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return axis


@public(out=True)
@with_numpys_names
def kthvalue(input: Any, k: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The `k`-th smallest element along a dimension, and where it is."""
    dim = _reduced_axis("kthvalue", input, dim)
    k = integer("kthvalue", "k", 2, k)
    if not 1 <= k <= (input._array.shape[dim] if input._array.ndim else 1):
        raise EngineError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return return_types.filled(return_types.kthvalue, kthvalue_op.call(input, k, dim, bool(keepdim)))


@public(out=True)
@with_numpys_names
def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower middle of all elements, or along a dimension with its place. A NaN makes the result NaN."""
    if dim is None:
        if isinstance(input, Tensor) and input._array.dtype.kind == "f":
            return median_op.call(input)
        return _median_of_all("median", median_op, input)
    dim = _reduced_axis("median", input, dim)
    return return_types.filled(return_types.median, median_dim_op.call(input, dim, bool(keepdim)))


@public(out=True)
@with_numpys_names
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not NaN."""
    if dim is None:
        return _median_of_all("nanmedian", nanmedian_op, input)
    dim = _reduced_axis("nanmedian", input, dim)
    return return_types.filled(return_types.nanmedian, nanmedian_dim_op.call(input, dim, bool(keepdim)))


def _median_of_all(name: str, op: Op, input: Any) -> Any:
    tensor_argument(name, "input", 1, input)
    if input._array.dtype.kind in "cb":
        raise NotSupportedError(f"\"median_cpu\" not implemented for '{FROM_NUMPY[input._array.dtype].old}'")
    return op.call(input)


@public(out=True)
@with_numpys_names
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension (the smallest of several), and its last place."""
    dim = _axis("mode", input, dim)
    _no_complex("mode", input)
    if input._array.ndim and input._array.shape[dim] == 0:
        raise ArgumentIndexError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
    return return_types.filled(return_types.mode, mode_op.call(input, dim, bool(keepdim)))


strict_out("sort", "topk", "mode")
strict_out("kthvalue", apart=True)

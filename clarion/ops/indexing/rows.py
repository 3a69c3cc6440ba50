"""index_select, index_add and their kin: slices along one dimension that a vector of indices names; take and put."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...core.description import normalize_dim
from ...core.devices import ndarray, xp_of
from ...core.dtypes import FROM_NUMPY, NumpyNumber, broadcast_shapes, i64, int32
from ...core.op import Op
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentIndexError, ArgumentTypeError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.batched.levels import all_samples
from ...kernels.blocks import in_range
from ..elementwise.cast import cast_number, check_numbers
from ..faces.api import FUNCTIONS, call, in_one_step, public, with_numpys_names
from ..faces.autocast import autocast
from ..faces.determinism import alert
from ..faces.strict_out import strict_out
from .scatter import first_outside, gather, index_reduce_mean_op, index_reduce_op, tensor_argument

index_select_op = Op("index_select", "x index", "dim", moves=True, traits="rearranges")
index_select_op.vjp(x=lambda g, index, x_shape, dim, ops: ops.index_select_backward(g, index, x_shape, dim)).jvp("each")

index_select_backward_op = Op("index_select_backward", "g index", "shape dim", node="IndexAddBackward0", moves=True)
index_select_backward_op.vjp(g=lambda g, index, dim, ops: ops.index_select(g, index, dim)).jvp("each")

index_add_op = Op("index_add", "x index source", "dim alpha", defaults=(1,), moves=True)
index_add_op.vjp(
    x=lambda g: g,
    source=lambda g, index, source_shape, dim, alpha, ops: _like(
        ops.index_select(g, index, dim) * alpha, source_shape, ops
    ),
).jvp("together")

index_copy_op = Op("index_copy", "x index source", "dim", moves=True)
index_copy_op.vjp(
    x=lambda g, index, dim, ops: ops.index_fill(g, index, dim, 0),
    source=lambda g, index, source_shape, dim, ops: _like(ops.index_select(g, index, dim), source_shape, ops),
).jvp("together")

index_fill_op = Op("index_fill", "x index", "dim value", moves=True)
index_fill_op.vjp(x=lambda g, index, dim, ops: ops.index_fill(g, index, dim, 0))
index_fill_op.jvp(lambda dx, index, dim, ops: ops.index_fill(dx, index, dim, 0))

index_fill_tensor_op = Op("index_fill_tensor", "x index value", "dim", node="IndexFillBackward1", moves=True)
index_fill_tensor_op.vjp(
    x=lambda g, index, dim, ops: ops.index_fill(g, index, dim, 0),
    value=lambda g, index, dim, ops: ops.sum_to(ops.index_select(g, index, dim), ()),
)

take_op = Op("take", "x index", moves=True, traits="rearranges")
take_op.vjp(x=lambda g, index, x_shape, ops: ops.take_backward(g, index, x_shape)).jvp("each")

take_backward_op = Op("take_backward", "g index", "shape", node="PutBackward0", moves=True)
take_backward_op.vjp(g=lambda g, index, ops: ops.take(g, index)).jvp("each")

put_op = Op("put", "x index source", "accumulate", moves=True)
put_op.vjp(
    x=lambda g, index, accumulate, ops: g if accumulate else ops.put(g, index, 0, False),
    source=lambda g, index, source_shape, ops: _like(ops.take(g, index), source_shape, ops),
)


def _like(g: Any, shape: tuple[int, ...], ops: Any) -> Any:
    """The same elements in another shape (a source of one element where a slice was expected, or back)."""
    return g if tuple(g.shape) == shape else ops.view(g, shape)


def long_index(index: Any) -> Any:
    """The index with 64 bits."""
    return index if index._array.dtype == i64 else new_tensor(index._array.astype(i64))


# Public functions -----------------------------------------------------------------------------------------


@public(out=True)
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices of `input` along `dim` that the vector `index` names."""
    if not isinstance(input, Tensor) or not isinstance(index, Tensor):
        tensor_argument("index_select", "input", 1, input)
        tensor_argument("index_select", "index", 3, index)
    shape, places = input._array.shape, index._array
    if places.ndim > 1:
        raise ArgumentIndexError("index_select(): Index is supposed to be a vector")
    if places.dtype is not i64 and places.dtype != i64 and places.dtype != int32.numpy:
        raise DtypeError("index_select(): Expected dtype int32 or int64 for index")
    dim = normalize_dim(dim, len(shape))
    if not shape and places.size != 1:
        raise EngineError(f"index_select(): Index to scalar can have only 1 value, got {places.size} value(s)")
    size = shape[dim] if shape else 1
    if not in_range(places, size):
        wrong = first_outside(places, size)
        if not size:
            raise EngineError(f"index_select(): self indexing axis dim should be positive\nthere is no index {wrong}")
        if dim == 1:
            raise EngineError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={size}")
        raise ArgumentIndexError(
            f"index out of range in self\nindex {wrong} is out of bounds for dimension {dim} with size {size}"
        )
    return index_select_op.call(input, index, dim)


def _check_rows(name: str, x: Any, dim: int, index: Any, source: Any) -> int:
    """The checks of index_add and index_reduce, in PyTorch's words."""
    for position, (what, each) in enumerate((("input", x), ("index", index), ("source", source))):
        tensor_argument(name.rstrip("_"), what, position + 1, each)
    shape, places, given = x._array.shape, index._array, source._array
    if places.ndim > 1:
        raise ArgumentIndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {places.ndim} with type: "
            f"{FROM_NUMPY[places.dtype].old} and size: {list(places.shape)}"
        )
    if places.dtype != i64 and places.dtype != int32.numpy:
        raise DtypeError(f"{name}(): Expected dtype int32/int64 for index but got: {FROM_NUMPY[places.dtype].old}")
    if x._array.dtype != given.dtype:
        raise DtypeError(
            f"{name}(): self ({FROM_NUMPY[x._array.dtype].old}) and source ({FROM_NUMPY[given.dtype].old}) must have "
            "the same scalar type"
        )
    dim = normalize_dim(dim, len(shape))
    count = given.shape[dim] if dim < given.ndim else 1
    if places.size != count:
        raise ShapeError(
            f"{name}(): Number of indices ({places.size}) should be equal to source.size(dim): ({count}), for dim: {dim}"
        )
    alone = not shape and given.ndim < 2  # one element, or a vector of one
    if not alone and given.ndim and _without(shape, dim) != _without(given.shape, dim):
        raise ShapeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(given.shape)}"
        )
    return dim


def _without(shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    return shape[:dim] + shape[dim + 1 :]


def _size(x: Any, dim: int) -> int:
    shape = x._array.shape
    return int(shape[dim]) if shape else 1


@public(inplace=True, out=True)
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1, run: Any = call) -> Any:
    """`input` with alpha times the slices of `source` added where `index` says; indices may repeat."""
    dim = _check_rows("index_add_", input, dim, index, source)
    size = _size(input, dim)
    if not in_range(index._array, size):
        told = f"index {first_outside(index._array, size)} is out of bounds for dimension {dim} with size {size}"
        if input.ndim > 1 and dim in (0, input.ndim - 1) and alpha == 1 and index._array.dtype == i64:
            # (PyTorch's scatter_add does the work there)
            raise EngineError(told)
        raise ArgumentIndexError(f"index out of range in self\n{told}")
    if alpha != 1:
        check_numbers(input, alpha, exact=True)
    return run(index_add_op, input, long_index(index), source, dim, alpha)


@public(inplace=True, out=True)
def index_reduce(
    input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True, run: Any = call
) -> Any:
    """The prod, mean, amax or amin of all slices of `source` that `index` sends to one place."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise EngineError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim = _check_rows("index_reduce_", input, dim, index, source)
    size = _size(input, dim)
    if not in_range(index._array, size):
        wrong = first_outside(index._array, size)
        raise ArgumentIndexError(
            f"index out of range in self\nindex {wrong} is out of bounds for dimension {dim} with size {size}"
        )
    op = index_reduce_mean_op if reduce == "mean" else index_reduce_op
    return run(op, input, long_index(index), source, dim, reduce, bool(include_self), True)


@public(inplace=True, out=True)
@autocast("widest")
def index_copy(input: Any, dim: int, index: Any, source: Any, *, run: Any = call) -> Any:
    """`input` with the slices of `source` written where `index` says."""
    for position, (what, each) in enumerate((("input", input), ("index", index), ("source", source))):
        tensor_argument("index_copy", what, position + 1, each)
    shape, places, given = input._array.shape, index._array, source._array.shape
    if places.ndim > 1:
        raise ArgumentIndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {places.ndim})")
    if not given and places.size != 1:
        raise ArgumentIndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {places.size})"
        )
    if given and shape and len(given) != len(shape):
        raise ArgumentIndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(given)}), destination dimensionality ({len(shape)})"
        )
    if places.dtype != i64:
        raise DtypeError(f"index_copy_(): Expected a long tensor for index, but got {FROM_NUMPY[places.dtype].old}")
    if input._array.dtype != source._array.dtype:
        raise DtypeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{FROM_NUMPY[input._array.dtype].old} and (source) {FROM_NUMPY[source._array.dtype].old}"
        )
    dim = normalize_dim(dim, len(shape))
    mine, theirs = _without(shape, dim), _without(given, dim)
    if given and mine != theirs:
        raise ShapeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, mine))} at dimension {dim} and source slice shape: {' '.join(map(str, theirs))} at "
            "dimension 0."
        )
    if given and places.size != given[dim]:
        raise ArgumentIndexError(
            f"index_copy_(): Number of indices ({places.size}) should be equal to source.size(dim) ({given[dim]})"
        )
    size = _size(input, dim)
    if not in_range(places, size):
        wrong = first_outside(places, size)
        raise ArgumentIndexError(f"index_copy_(): index {wrong} is out of bounds for dimension {dim} with size {size}")
    return run(index_copy_op, input, index, source, dim)


def _once(index: Any, places: Any, size: int) -> Any:
    """The same indices without those that stand there twice."""
    if places is index._array:
        return new_tensor(xp_of(places).unique(xp_of(places).where(places < 0, places + size, places)))
    if index.numel() > 1:  # each sample may have another number of them
        raise NotSupportedError(
            "index_fill() inside vmap: several indices per sample and a tensor as value; give a number"
        )
    return index


@public(inplace=True, out=True)
def index_fill(input: Any, dim: int, index: Any, value: Any, *, run: Any = call) -> Any:
    """`input` with a number written to the slices that `index` names."""
    tensor_argument("index_fill", "input", 1, input)
    tensor_argument("index_fill", "index", 3, index)
    places = index._array
    if places.dtype != i64:
        raise ArgumentIndexError("index_fill_(): Expected dtype int64 for index.")
    if places.ndim > 1:
        raise ShapeError("Index has to be a vector/scalar")
    dim = normalize_dim(dim, input._array.ndim)
    size = _size(input, dim)
    places = all_samples(places)
    known = type(places) is ndarray and in_range(places, size)
    if not known and places.size and (places.min() < -size or places.max() >= size):
        wrong = first_outside(places, size, -size)
        raise ArgumentIndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise ShapeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._array.ndim} "
                "dimension(s)."
            )
        if value._array.dtype.kind == "c" and input._array.dtype.kind != "c":
            raise EngineError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
        if value.requires_grad or modes.special:  # a slice that is named twice is filled once
            index = _once(index, places, size)
        if value._vc is not None and value._vc is input._vc:  # its number is read before it may be filled
            value = FUNCTIONS["clone"](value)
        return run(index_fill_tensor_op, input, index, value, dim)
    if not isinstance(value, (int, float, complex, NumpyNumber)):
        raise ArgumentTypeError(
            "index_fill() received an invalid combination of arguments: 'value' must be Tensor or Number, not "
            f"{type(value).__name__}"
        )
    if isinstance(value, complex) and input._array.dtype.kind != "c":
        raise EngineError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    return run(index_fill_op, input, index, dim, cast_number(value, input._array.dtype))


def _check_flat(name: str, input: Any, index: Any) -> None:
    tensor_argument(name, "input", 1, input)
    tensor_argument(name, "index", 2, index)
    places, size = all_samples(index._array), input._array.size
    if places.dtype != i64:
        shown = name if name == "take" else name + "_"
        raise DtypeError(f"{shown}(): Expected a long tensor for index, but got {FROM_NUMPY[places.dtype].old}")
    if not size and places.size:
        raise ArgumentIndexError(f"{name}(): tried to {name} from an empty tensor")
    if places.size and (places.min() < -size or places.max() >= size):
        wrong = first_outside(places, size, -size)
        raise ArgumentIndexError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")


@public(out=True)
def take(input: Any, index: Any) -> Any:
    """The elements of the flattened `input` at `index`."""
    _check_flat("take", input, index)
    return take_op.call(input, index)


@public(inplace=True)
def put(input: Any, index: Any, source: Any, accumulate: bool = False, *, run: Any = call) -> Any:
    """`input` with `source` written to (or added to) the elements of the flattened tensor at `index`."""
    tensor_argument("put", "source", 3, source)
    if isinstance(index, Tensor) and isinstance(input, Tensor):
        if index._array.dtype != i64:
            raise DtypeError(f"put_(): Expected a long tensor for index, but got {FROM_NUMPY[index._array.dtype].old}")
        if input._array.dtype != source._array.dtype:
            raise DtypeError(
                "put_(): self and source expected to have the same dtype, but got self.dtype = "
                f"{FROM_NUMPY[input._array.dtype].old} and source.dtype = {FROM_NUMPY[source._array.dtype].old}"
            )
        if source._array.size != index._array.size:
            raise ArgumentIndexError(
                "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
                f"{source._array.size}, index.numel() = {index._array.size}"
            )
    _check_flat("put", input, index)
    if not accumulate:
        alert("put_")
    return run(put_op, input, index, source, bool(accumulate))


@public(out=True)
@with_numpys_names
def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` whose index and input broadcast against each other; the flattened input without `dim`."""
    tensor_argument("take_along_dim", "input", 1, input)
    tensor_argument("take_along_dim", "indices", 2, indices)
    if indices._array.dtype != i64:
        raise DtypeError(
            f"torch.take_along_dim(): dtype of indices should be Long but got {FROM_NUMPY[indices._array.dtype].old}"
        )
    if dim is None:
        return gather(input.reshape(-1), 0, _from_front(indices, input._array.size).reshape(-1))
    if input._array.ndim != indices._array.ndim:
        raise ShapeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input._array.ndim} dimensions for input, and {indices._array.ndim} dimensions for indices"
        )
    dim = normalize_dim(dim, input._array.ndim)
    mine, theirs = input._array.shape, indices._array.shape
    if _without(mine, dim) != _without(theirs, dim):
        rest = broadcast_shapes(_without(mine, dim), _without(theirs, dim))
        input = input.expand((*rest[:dim], mine[dim], *rest[dim:]))
        indices = indices.expand((*rest[:dim], theirs[dim], *rest[dim:]))
    return gather(input, dim, _from_front(indices, mine[dim]))


def _from_front(indices: Any, size: int) -> Any:
    places = indices._array
    if not places.size or all_samples(places).min() >= 0:
        return indices
    return new_tensor(xp_of(places).where(places < 0, places + size, places))


strict_out("index_select", "take", apart=True)
strict_out("index_add", "index_copy", "index_reduce")
in_one_step("index_add_", index_add_op)

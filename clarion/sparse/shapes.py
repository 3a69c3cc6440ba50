"""What public functions do where an argument is sparse: shapes, parts, and several side by side."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import sparse_coo
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentIndexError, ArgumentTypeError, EngineError, NotSupportedError
from ..kernels.coo import flat_places, pairs
from ..ops.faces.api import FUNCTIONS
from ..ops.shapes.transpose import order_of
from .compressed import COMPRESSED, compressed, like, turned
from .tensor import coalesced, handles, in_places, is_sparse, make, np


def dimension(x: Any, dim: int) -> int:
    """A dimension counted from the front, which is there."""
    n = x.dim()
    if not -n <= dim < n:
        raise ArgumentIndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


@handles("permute")
def permute(x: Any, *args: Any, dims: Any = ()) -> Any:
    """Other order of dimensions."""
    dims = args or (dims,)
    order = tuple(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else dims
    named, order = order, tuple(order_of(order, x.dim()))
    count = x._at.shape[0]
    if any((d < count) != (i < count) for i, d in enumerate(order)):
        raise EngineError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed."
            "Only transpositions within sparse and dense dimensions are supported."
        )
    held = x._held.permute(0, *[d - count + 1 for d in order[count:]]) if x._held.dim() > 1 else x._held
    at = x._at[new_tensor(np.array(order[:count], np.int64))]
    # (PyTorch takes dimensions that are counted from the end for others.)
    same = order[:count] == tuple(range(count)) and (not order or named[0] == 0)
    result = make(at, held, [x.shape[d] for d in order], same and x._array.sorted)
    if x._layout is sparse_coo:
        return result
    return turned(x) if order == (1, 0) else compressed(result, x._layout)


@handles("transpose", "swapaxes", "swapdims", any_layout=True)
def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    if x._layout in COMPRESSED:
        matrix = x._at.shape[0] - 2, x._at.shape[0] - 1
        if sorted((dim0 % x.dim(), dim1 % x.dim())) == [*matrix]:
            return turned(x)
    dim0, dim1, count = dimension(x, dim0), dimension(x, dim1), x._at.shape[0]
    if x._layout is sparse_coo and (dim0 < count) is not (dim1 < count):
        raise EngineError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {count}, d0: {dim0}, d1: {dim1}"
        )
    order = list(range(x.dim()))
    order[dim0], order[dim1] = order[dim1 % x.dim()], order[dim0 % x.dim()]
    return x.permute(*order)


@handles("t", any_layout=True)
def t(x: Any) -> Any:
    """The transpose of a matrix."""
    compressed_rows = x._layout in COMPRESSED
    if compressed_rows and x.dim() > 2:
        raise EngineError(f"t() expects a tensor with <= 2 dimensions, but self is {x.dim()}D")
    if not compressed_rows and (x.dim() > 2 or x._held.ndim > 1):
        raise EngineError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {x._at.shape[0]} sparse and "
            f"{x._held.ndim - 1} dense dimensions"
        )
    return transpose(x, 0, 1) if x.dim() == 2 else x


@handles("T", any_layout=True)
def turned_over(x: Any) -> Any:
    """All dimensions in the opposite order."""
    return t(x) if x._layout in COMPRESSED or x.dim() < 2 else x.permute(*reversed(range(x.dim())))


handles("t_")(lambda x: x.become(t(x)))
handles("transpose_", "swapaxes_", "swapdims_")(lambda x, dim0, dim1: x.become(transpose(x, dim0, dim1)))


@handles("mT")
def m_t(x: Any) -> Any:
    """The transposes of matrices."""
    return transpose(x, -2, -1)


@handles("H", "mH", "adjoint")
def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    turned = transpose(x, -2, -1)
    return turned.alike(turned._held.conj())


@handles("unsqueeze")
def unsqueeze(x: Any, dim: int) -> Any:
    """One more dimension."""
    n = x.dim() + 1
    if not -n <= dim < n:
        raise ArgumentIndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    dim = dim % n
    shape = [*x.shape[:dim], 1, *x.shape[dim:]]
    if dim > x._at.shape[0]:
        return make(x._at, x._held.unsqueeze(dim - x._at.shape[0] + 1), shape, x._array.sorted)
    at = x._at._array
    row = np.zeros((1, at.shape[1]), np.int64)
    return make(new_tensor(np.concatenate((at[:dim], row, at[dim:]))), x._held, shape, x._array.sorted)


@handles("select", "select_copy", any_layout=True)
def select(x: Any, dim: int, index: int) -> Any:
    """One slice along a dimension."""
    dim = dim % x.dim()
    n, count = x.shape[dim], x._at.shape[0]
    if not -n <= index < n:
        raise ArgumentIndexError(
            f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {dim}"
        )
    shape = [*x.shape[:dim], *x.shape[dim + 1 :]]
    if dim >= count:
        held = x._held.select(dim - count + 1 + len(x._block), index)
        return make(x._at, held, shape, x._array.sorted, x._layout, x._block, x._index)
    if x._layout is sparse_coo:
        return _selected(coalesced(x), dim, index % n, shape)
    if count > 2 and dim >= count - 2:
        raise EngineError(
            "select(): selecting sparse dimensions is not supported for batched sparse compressed tensors."
        )
    return like(_selected(in_places(x), dim, index % n, shape), x)


def _selected(x: Any, dim: int, index: int, shape: list[int]) -> Any:
    """The entries of one slice along a dimension of places."""
    kept = new_tensor(np.flatnonzero(x._at._array[dim] == index))
    held = x._held[kept]
    if x._at.shape[0] == 1:
        return held.sum(0, dtype=held.dtype)  # of one entry, or of none
    rows = new_tensor(np.array([i for i in range(x._at.shape[0]) if i != dim]))
    return make(x._at[rows][:, kept], held, shape, True)


@handles("unbind")
def unbind(x: Any, dim: int = 0) -> tuple[Any, ...]:
    """All slices along a dimension."""
    return tuple([select(x, dim, i) for i in range(x.shape[dim])])


@handles("index_select")
def index_select(x: Any, dim: int, index: Any) -> Any:
    """The slices that `index` names, along a dimension: a sparse one is also counted from its end."""
    x, dim = coalesced(in_places(x)), dimension(x, dim)
    shape = [*x.shape[:dim], int(index.numel()), *x.shape[dim + 1 :]]
    count = x._at.shape[0]
    if dim >= count:
        return make(x._at, x._held.index_select(dim - count + 1, index), shape, True)
    chosen, n = index._array.reshape(-1), x.shape[dim]
    outside = (chosen < -n) | (chosen >= n)
    if outside.any():
        raise ArgumentIndexError(
            f"index_select(): index contains {chosen[outside][0]} that is out of range for tensor of size "
            f"{list(x.shape)} at dimension {dim}"
        )
    new, old = pairs(np.where(chosen < 0, chosen + n, chosen), x._at._array[dim])
    at = x._at._array[:, old].copy()
    at[dim] = new
    order = np.argsort(flat_places(at, tuple(shape[:count])), kind="stable")
    return make(new_tensor(at[:, order]), x._held[new_tensor(old[order])], shape, True)


@handles("narrow", "narrow_copy")
def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    """Some slices in a row."""
    if not -x.dim() <= dim < x.dim():
        raise EngineError(f"Dimension {dim} out of range. Expecting 0 <= dim < {x.dim()}.")
    if start < 0 or length < 0 or start + length > x.shape[dim]:
        raise EngineError(
            f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, {x.shape[dim]})."
        )
    return index_select(x, dim, new_tensor(np.arange(start, start + length)))


@handles("__getitem__")
def getitem(x: Any, key: Any) -> Any:
    """x[i], x[i, j], x[a:b]: numbers and slices."""
    dim = 0
    for each in key if isinstance(key, tuple) else (key,):
        if isinstance(each, int):
            x = x.select(dim, each)
            continue
        if isinstance(each, slice):
            start, stop, step = each.indices(x.shape[dim])
            if (start, stop, step) != (0, x.shape[dim], 1):
                x = index_select(x, dim, new_tensor(np.arange(start, stop, step)))
        elif isinstance(each, Tensor) and each.dim() == 1 and each.dtype.is_signed:
            x = index_select(x, dim, each)
        else:
            raise NotSupportedError("a sparse tensor is indexed by numbers, slices and a list of indices")
        dim += 1
    return x


@handles("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> Any:
    """One after the other along a dimension."""
    parts = _alike([in_places(x) if is_sparse(x) else x for x in tensors], dim)
    dim, count = dim % parts[0].dim(), parts[0]._at.shape[0]
    shape = list(parts[0].shape)
    shape[dim] = sum(x.shape[dim] for x in parts)
    if dim >= count:
        return _cat_inside(parts, dim - count + 1, shape)
    begin, moved = 0, []
    for x in parts:
        at = x._at._array.copy()
        at[dim] += begin
        begin += x.shape[dim]
        moved.append(at)
    held = FUNCTIONS["cat"]([x._held for x in parts])
    return make(
        new_tensor(np.concatenate(moved, axis=1)), held, shape, dim == 0 and all(x._array.sorted for x in parts)
    )


def _alike(parts: list[Any], dim: int) -> list[Any]:
    """Refuse to put side by side what does not fit."""
    first = parts[0]
    for i, x in enumerate(parts):
        if not is_sparse(x):
            raise EngineError(f"Concatenating sparse tensors, but a dense tensor was found at position {i}.")
        if i == 0:
            dim = dimension(x, dim)
            continue
        sizes = [[n for d, n in enumerate(each.shape) if d != dim] for each in (first, x)]
        if sizes[0] != sizes[1]:
            raise EngineError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), but "
                f"found shape: {list(x.shape)} at position {i}."
            )
        dims = [(each._at.shape[0], each._held.dim() - 1) for each in (first, x)]
        if dims[0] != dims[1]:
            raise EngineError(
                f"All tensors must have the same sparse_dim and dense_dim: {dims[0][0]}, {dims[0][1]}, but tensor at position "
                f"{i} has {dims[1][0]}, {dims[1][1]}."
            )
    return parts


def _cat_inside(parts: list[Any], dim: int, shape: list[int]) -> Any:
    """Side by side along a dense dimension: each has zeros where the others are."""
    cat, sizes = FUNCTIONS["cat"], [x._held.shape[dim] for x in parts]
    held = []
    for i, x in enumerate(parts):
        rooms = [[*x._held.shape[:dim], n, *x._held.shape[dim + 1 :]] for n in sizes]
        held.append(cat([x._held if j == i else x._held.new_zeros(room) for j, room in enumerate(rooms)], dim))
    return make(cat([x._at for x in parts], 1), cat(held), shape)


@handles("reshape", "flatten", "ravel", "view_as", "reshape_as")
def reshape(x: Any, *args: Any, **options: Any) -> Any:
    """Refused, as in PyTorch."""
    raise EngineError("reshape is not implemented for sparse tensors")


@handles("stack")
def stack(tensors: Any, dim: int = 0) -> Any:
    """Side by side along a new dimension."""
    return cat([unsqueeze(x, dim) for x in tensors], dim)


@handles("__setitem__")
def setitem(x: Any, key: Any, value: Any) -> None:
    """Refused, as in PyTorch."""
    raise ArgumentTypeError("Cannot assign to a sparse tensor")


@handles("expand", "expand_as", "broadcast_to")
def expand(x: Any, *args: Any, **options: Any) -> Any:
    """Refused, as in PyTorch."""
    raise EngineError("expand is unsupported for Sparse tensors")

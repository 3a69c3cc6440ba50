"""Making sparse tensors, converting them, and what they say of themselves."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import int64, sparse_coo, sparse_csc, sparse_csr, strided
from ..core.tensor import Tensor, new_tensor
from ..errors import EngineError
from ..kernels.coo import rows_of
from ..ops.faces.api import FUNCTIONS
from .tensor import (
    begins,
    checked,
    coalesced,
    compressed,
    dense,
    gathered,
    handles,
    in_places,
    is_sparse,
    make,
    np,
    size_of,
    sparse,
)  # fmt: skip


def _values(values: Any, dtype: Any, requires_grad: bool) -> Any:
    held = values if isinstance(values, Tensor) else FUNCTIONS["tensor"](values)
    if dtype is not None and held.dtype != dtype:
        held = held.to(dtype)
    elif held is values and held.requires_grad:
        held = held.view_as(held)  # so that the sparse tensor is no leaf
    elif held is values:
        held = held.detach()  # so that requires_grad_() of the sparse tensor is not that of the values given
    return held.detach().requires_grad_(True) if requires_grad else held


def _indices(indices: Any) -> Any:
    found = indices if isinstance(indices, Tensor) else FUNCTIONS["tensor"](indices, dtype=int64)
    return found.detach().to(int64)


def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None, is_coalesced: Any = None,
) -> Any:  # fmt: skip
    """A sparse tensor from places and values; with a size alone, one of zeros."""
    if values is None:
        shape = tuple(size if size is not None else indices)
        at = new_tensor(np.zeros((len(shape), 0), np.int64))
        held = FUNCTIONS["zeros"](0, dtype=dtype)
        return make(at, held.requires_grad_(requires_grad), shape, True)
    at, held = _indices(indices), _values(values, dtype, requires_grad)
    if at.dim() != 2:
        raise EngineError("indices must be sparse_dim x nnz")
    if held.dim() == 0:
        held = held.expand(at.shape[1])
    if held.shape[0] != at.shape[1]:
        raise EngineError(f"indices and values must have same nnz, but got nnz from indices: {at.shape[1]}, nnz from "
                          f"values: {held.shape[0]}")  # fmt: skip
    shape = size_of(at._array, held, size)
    checked(at._array, shape)
    return make(at, held, shape, bool(is_coalesced) or at.shape[1] < 2)


def _compressed_tensor(layout: Any, pointers: Any, plain: Any, values: Any, size: Any, dtype: Any, grad: bool) -> Any:
    pointers, plain, held = _indices(pointers), _indices(plain), _values(values, dtype, grad)
    if pointers.dim() != 1:
        raise EngineError("clarion has compressed layouts of single matrices only, not of batches")
    lines = new_tensor(rows_of(pointers._array))
    both = (lines, plain) if layout is sparse_csr else (plain, lines)
    at = FUNCTIONS["stack"](both)
    if size is None:
        other = int(plain._array.max()) + 1 if plain.numel() else 0
        size = (len(pointers) - 1, other) if layout is sparse_csr else (other, len(pointers) - 1)
    checked(at._array, tuple(size))
    return make(at, held, size, True, layout)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None,
) -> Any:  # fmt: skip
    """A matrix with compressed rows."""
    return _compressed_tensor(sparse_csr, crow_indices, col_indices, values, size, dtype, requires_grad)


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None,
) -> Any:  # fmt: skip
    """A matrix with compressed columns."""
    return _compressed_tensor(sparse_csc, ccol_indices, row_indices, values, size, dtype, requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None,
) -> Any:  # fmt: skip
    """A matrix with compressed rows or columns, as `layout` says."""
    if layout not in (sparse_csr, sparse_csc):
        raise EngineError(f"sparse_compressed_tensor: clarion has sparse_csr and sparse_csc, not {layout}")
    return _compressed_tensor(layout, compressed_indices, plain_indices, values, size, dtype, requires_grad)


# From one layout to another --------------------------------------------------------------------------


@handles("to_dense")
def to_dense(x: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """All elements."""
    found = dense(x) if is_sparse(x) else x
    return found if dtype is None else found.to(dtype)


@handles("to_sparse")
def to_sparse(
    x: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """The elements that are not zero."""
    layout = layout or sparse_coo
    if layout is sparse_csr or layout is sparse_csc:
        return to_compressed(x, layout)
    if layout is not sparse_coo:
        raise EngineError(f"to_sparse: clarion has no layout {layout}")
    return in_places(x) if is_sparse(x) else sparse(x, sparse_dim)


handles("to_sparse_coo")(to_sparse)


def to_compressed(x: Any, layout: Any) -> Any:
    """As a matrix with compressed rows or columns."""
    if is_sparse(x) and x._layout is layout:
        return x
    return compressed(in_places(x), layout)


@handles("to_sparse_csr")
def to_sparse_csr(x: Any, dense_dim: Any = None) -> Any:
    """With compressed rows."""
    return to_compressed(x, sparse_csr)


@handles("to_sparse_csc")
def to_sparse_csc(x: Any, dense_dim: Any = None) -> Any:
    """With compressed columns."""
    return to_compressed(x, sparse_csc)


@handles("coalesce")
def coalesce(x: Any) -> Any:
    """Each place once, in order."""
    return coalesced(x)


@handles("_coalesced_")
def _claim_coalesced(x: Any, value: bool) -> Any:
    x._array.sorted = value
    return x


@handles("is_coalesced")
def is_coalesced(x: Any) -> bool:
    """Does each place occur once, in order?"""
    return bool(x._array.sorted)


def _needs_order(x: Any, name: str) -> None:
    if x._layout is not sparse_coo:
        raise EngineError(f"{name} expected sparse coordinate tensor layout but got {x._layout}")
    if not x._array.sorted:
        raise EngineError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")


@handles("indices")
def indices(x: Any) -> Any:
    """The places, one column each."""
    _needs_order(x, "indices")
    return x._at


@handles("values")
def values(x: Any) -> Any:
    """The entries."""
    if x._layout is sparse_coo:
        _needs_order(x, "values")
    return x._held


handles("_indices")(lambda x: x._at)
handles("_values")(lambda x: x._held)
handles("_nnz")(lambda x: int(x._held.shape[0]))
handles("sparse_dim", "_dimI")(lambda x: int(x._at.shape[0]))
handles("dense_dim", "_dimV")(lambda x: int(x._held.dim()) - 1)


def _part(name: str, layout: Any, axis: int, begin: bool) -> None:
    def read(x: Any) -> Any:
        if x._layout is not layout:
            raise EngineError(f"{name} expected sparse row or column compressed tensor layout but got {x._layout}")
        return begins(x, axis) if begin else x._at[axis]

    handles(name)(read)


_part("crow_indices", sparse_csr, 0, True)
_part("col_indices", sparse_csr, 1, False)
_part("ccol_indices", sparse_csc, 1, True)
_part("row_indices", sparse_csc, 0, False)


@handles("sparse_mask")
def sparse_mask(x: Any, mask: Any) -> Any:
    """The elements at the places of a sparse tensor."""
    found = dense(x) if is_sparse(x) else x
    return mask.alike(gathered(found, mask._at))


@handles("zeros_like", "empty_like")
def zeros_like(x: Any, *, dtype: Any = None, layout: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    """No entries, in the same shape."""
    if layout is strided:
        return FUNCTIONS["zeros"](x.shape, dtype=dtype or x.dtype, requires_grad=requires_grad)
    count = x._at.shape[0]
    held = x._held.detach().new_zeros((0, *x._held.shape[1:]), dtype=dtype or x.dtype).requires_grad_(requires_grad)
    return make(new_tensor(np.zeros((count, 0), np.int64)), held, x.shape, True, x._layout)


@handles("new_zeros", "new_empty")
def new_zeros(x: Any, *size: Any, dtype: Any = None, layout: Any = None, **options: Any) -> Any:
    """No entries, in another shape, of the same type and layout."""
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return FUNCTIONS["zeros"](tuple(shape), dtype=dtype or x.dtype, layout=layout or x._layout, **options)


@handles("sparse_resize_and_clear_")
def sparse_resize_and_clear_(x: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Give it another size and no entries, in place."""
    held = x._held.detach().new_zeros((0, *tuple(size)[sparse_dim:]))
    return x.become(make(new_tensor(np.zeros((sparse_dim, 0), np.int64)), held, size, True))


@handles("sparse_resize_")
def sparse_resize_(x: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    """Give it another size, in place."""
    if not x._held.shape[0]:
        return sparse_resize_and_clear_(x, size, sparse_dim, dense_dim)
    return x.become(make(x._at, x._held, size, x._array.sorted))

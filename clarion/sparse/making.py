"""Making sparse tensors, and converting them."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import Size, int64, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from ..core.tensor import new_tensor
from ..errors import ArgumentTypeError, EngineError, NotSupportedError
from ..kernels.coo import flat_places
from ..ops.faces.api import FUNCTIONS
from . import checking
from .compressed import (
    COMPRESSED,
    IN_BLOCKS,
    TITLES,
    compressed,
    from_parts,
    given_indices,
    given_values,
    names_of,
    to_compressed,
)
from .tensor import checked, dense, gathered, handles, in_places, is_sparse, make, np, size_of, sparse


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
    at, held = given_indices(indices).to(int64), given_values(values, dtype, requires_grad)
    if at.dim() != 2:
        raise EngineError("indices must be sparse_dim x nnz")
    if held.dim() == 0:
        held = held.expand(at.shape[1])
    if held.shape[0] != at.shape[1]:
        raise EngineError(f"indices and values must have same nnz, but got nnz from indices: {at.shape[1]}, nnz from "
                          f"values: {held.shape[0]}")  # fmt: skip
    shape = size_of(at._array, held, size)
    if math.prod(shape) >= 1 << 63:
        raise EngineError("numel: integer multiplication overflow")
    if checking(check_invariants) is not False:
        checked(at._array, shape)
    found = make(at, held, shape, bool(is_coalesced) or at.shape[1] < 2)
    if is_coalesced and checking(check_invariants):
        places = flat_places(at._array, shape[: len(at._array)])
        if (places[1:] <= places[:-1]).any():
            raise EngineError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    return found


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None,
) -> Any:  # fmt: skip
    """Matrices with compressed rows or columns, as `layout` says."""
    if layout not in COMPRESSED:
        raise EngineError(f"expected sparse compressed tensor layout but got {TITLES.get(layout, layout)}")
    begins, places = given_indices(compressed_indices), given_indices(plain_indices)
    held = given_values(values, dtype, requires_grad)
    return from_parts(layout, begins, places, held, size, checking(check_invariants))


def _of_layout(layout: Any) -> Any:
    """The function that makes tensors of one compressed layout: its indices have names of their own."""
    first, second, _, _ = names_of(layout)

    def make_one(*args: Any, **options: Any) -> Any:
        indices = [*args[:2], *[options.pop(name) for name in (first, second)[len(args) :]]]
        return sparse_compressed_tensor(*indices, *args[2:], layout=layout, **options)

    return make_one


sparse_csr_tensor, sparse_csc_tensor = _of_layout(sparse_csr), _of_layout(sparse_csc)
sparse_bsr_tensor, sparse_bsc_tensor = _of_layout(sparse_bsr), _of_layout(sparse_bsc)


# From one layout to another --------------------------------------------------------------------------


@handles("to_dense", any_layout=True)
def to_dense(x: Any, dtype: Any = None, *, masked_grad: Any = None) -> Any:
    """All elements."""
    found = dense(x) if is_sparse(x) else x
    return found if dtype is None else found.to(dtype)


@handles("to_sparse", "to_sparse_coo", any_layout=True)
def to_sparse(
    x: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> Any:
    """The elements that are not zero."""
    layout = layout or (sparse_coo if blocksize is None else sparse_bsr)
    if layout is strided:
        return to_dense(x)
    if layout in COMPRESSED:
        return to_compressed(x, layout, blocksize, dense_dim)
    if layout is not sparse_coo:
        raise EngineError(f"to_sparse: there is no layout {layout}")
    if is_sparse(x):
        if sparse_dim is not None and sparse_dim != x.sparse_dim():
            raise EngineError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported"
            )
        return in_places(x, in_order=False)
    return sparse(x, sparse_dim)


@handles("to_sparse_csr", any_layout=True)
def to_sparse_csr(x: Any, dense_dim: Any = None) -> Any:
    """With compressed rows."""
    return to_compressed(x, sparse_csr, None, dense_dim)


@handles("to_sparse_csc", any_layout=True)
def to_sparse_csc(x: Any, dense_dim: Any = None) -> Any:
    """With compressed columns."""
    return to_compressed(x, sparse_csc, None, dense_dim)


@handles("to_sparse_bsr", any_layout=True)
def to_sparse_bsr(x: Any, blocksize: Any, dense_dim: Any = None) -> Any:
    """In blocks, with compressed rows of them."""
    return to_compressed(x, sparse_bsr, blocksize, dense_dim)


@handles("to_sparse_bsc", any_layout=True)
def to_sparse_bsc(x: Any, blocksize: Any, dense_dim: Any = None) -> Any:
    """In blocks, with compressed columns of them."""
    return to_compressed(x, sparse_bsc, blocksize, dense_dim)


@handles("sparse_mask", any_layout=True)
def sparse_mask(x: Any, mask: Any) -> Any:
    """The elements at the places of a sparse tensor."""
    found = dense(x) if is_sparse(x) else x
    if not mask._block:
        return mask.alike(gathered(found, mask._at))
    spread = in_places(mask)
    return compressed(spread.alike(gathered(found, spread._at)), mask._layout, mask._block, mask._index)


# Like others -----------------------------------------------------------------------------------------


@handles("zeros_like", any_layout=True)
def zeros_like(x: Any, *, dtype: Any = None, layout: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    """No entries, in the same shape."""
    layout = _asked(x, layout, options)
    if layout is strided:
        return _as_strided(x, dtype or x.dtype, requires_grad)
    blocks = layout in IN_BLOCKS
    if layout is not sparse_coo and blocks is not bool(x._block):
        raise EngineError(
            "sparse_compressed_tensor_with_dims: blocksize needs to be a tuple of size 2, but got 0" if blocks else
            f"sparse_compressed_tensor_with_dims: blocksize cannot be specified for non-block layout {TITLES[layout]}"
        )  # fmt: skip
    count, inner = x._at.shape[0], tuple(x._held.shape[1 + len(x._block) :])
    block = x._block if blocks else ()
    where = options.get("device") or x.device
    held = x._held.detach().new_zeros((0, *block, *inner), dtype=dtype or x.dtype, device=where)
    held = held.requires_grad_(requires_grad)
    return make(new_tensor(np.zeros((count, 0), np.int64)), held, x.shape, True, layout, block, x._index)


@handles("empty_like", any_layout=True)
def empty_like(x: Any, *, dtype: Any = None, layout: Any = None, requires_grad: bool = False, **options: Any) -> Any:
    """The same places, if they are compressed; else no entries."""
    layout = _asked(x, layout, options)
    if layout is strided:
        return _as_strided(x, dtype or x.dtype, requires_grad)
    if x._layout not in COMPRESSED:
        return zeros_like(x, dtype=dtype, layout=layout, requires_grad=requires_grad)
    if layout is not x._layout:
        raise _other_layout(x, layout)
    return x.alike(FUNCTIONS["zeros_like"](x._held.detach(), dtype=dtype or x.dtype).requires_grad_(requires_grad))


def _filled_like(name: str) -> None:
    def run(x: Any, *args: Any, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Any:
        """Other values at the same places, which only compressed ones keep."""
        if x._layout not in COMPRESSED or options.get("layout") not in (None, x._layout):
            raise NotSupportedError(
                f"Could not run 'aten::{name}' with arguments from the 'SparseCPU' backend.\n"
                "clarion has no sparse form of this operation; x.to_dense() gives the dense tensor."
            )
        return x.alike(FUNCTIONS[name](x._held.detach(), *args, dtype=dtype).requires_grad_(requires_grad))

    handles(name, any_layout=True)(run)


for _name in ("ones_like", "full_like", "randn_like"):
    _filled_like(_name)


def _asked(x: Any, layout: Any, options: Any) -> Any:
    """The layout of something like `x`."""
    if options.get("memory_format") is not None and layout is not strided:
        raise EngineError("memory format option is only supported by strided tensors")
    return layout or x._layout


def _as_strided(x: Any, dtype: Any, requires_grad: bool) -> Any:
    if x._layout in COMPRESSED:
        raise _other_layout(x, strided)
    return FUNCTIONS["zeros"](x.shape, dtype=dtype, requires_grad=requires_grad)


def _other_layout(x: Any, layout: Any) -> EngineError:
    return EngineError(
        f"empty_like with different sparse layout is not supported (self is {TITLES[x._layout]} but you requested "
        f"{TITLES[layout]})"
    )


@handles("new_zeros", "new_empty")
def new_zeros(x: Any, *size: Any, dtype: Any = None, layout: Any = None, **options: Any) -> Any:
    """No entries, in another shape, of the same type and layout."""
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return FUNCTIONS["zeros"](tuple(shape), dtype=dtype or x.dtype, layout=layout or x._layout, **options)


@handles("new")
def new(x: Any, *args: Any, **options: Any) -> Any:
    """The old constructor: sizes, or places and values."""
    if len(args) >= 2 and is_sparse(args[0]) is False and hasattr(args[0], "dim"):
        return sparse_coo_tensor(*args, dtype=x.dtype)
    if len(args) == 1 and not isinstance(args[0], int | Size):
        raise ArgumentTypeError(
            "SparseTensor.new(sequence) only accepts sizes.  Please use torch.sparse_coo_tensor() or construct a strided tensor "
            "and convert it to sparse via to_sparse."
        )
    return sparse_coo_tensor(tuple(args[0]) if args and isinstance(args[0], Size) else args or (0,), dtype=x.dtype)


@handles("zeros")
def zeros(*size: Any, out: Any, requires_grad: bool = False, **options: Any) -> Any:
    """No entries, in the place of a sparse tensor."""
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return out.become(sparse_coo_tensor(tuple(shape), dtype=out.dtype, requires_grad=requires_grad))


@handles("resize_", any_layout=True)
def resize_(x: Any, *size: Any, memory_format: Any = None) -> Any:
    """Give matrices with compressed rows other rows, more columns or fewer batches, in place."""
    shape = tuple(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
    if x._layout is not sparse_csr:
        raise EngineError(f"resize_: it is for compressed rows (SparseCsr), not for {TITLES[x._layout]}")
    if len(shape) < 2:
        raise EngineError(f"torch.resize_: Only batched sparse CSR matrices are supported, but got size {list(shape)}")
    if shape[-1] < x.shape[-1]:
        raise EngineError(
            "torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The original number of "
            f"columns is {x.shape[-1]} while the requested new number of columns is {shape[-1]}."
        )
    batches, given = math.prod(shape[:-2]), math.prod(x.shape[:-2])
    if batches > given:
        raise NotSupportedError("resize_ of a sparse tensor gives it no more batches than it has")
    # As PyTorch's: of each batch as many entries stay as there is room for, and the last row takes what lay below it.
    entries = x._held.shape[0] // given if given else 0
    kept = min(entries, shape[-2] * shape[-1])
    chosen = (np.arange(batches)[:, None] * entries + np.arange(kept)).reshape(-1)
    rows, columns = x._at._array[-2:, chosen]
    places = np.unravel_index(np.repeat(np.arange(batches), kept), shape[:-2]) if shape[:-2] else ()
    at = np.stack([*places, np.minimum(rows, shape[-2] - 1), columns]).astype(np.int64)
    return x.become(make(new_tensor(at), x._held[new_tensor(chosen)], shape, True, x._layout, x._block, x._index))


@handles("resize_as_sparse_", any_layout=True)
def resize_as_sparse_(x: Any, other: Any) -> Any:
    """Give it the size of another, and where the size changes its places (if they are compressed), in place."""
    titles = [TITLES[each._layout] if is_sparse(each) else "Strided" for each in (x, other)]
    if titles[0] != titles[1]:
        for who, title in zip(("self", "src"), titles, strict=True):
            if title in ("Strided", "Sparse"):
                raise EngineError(
                    f"resize_as_sparse_compressed_: {who}  expected sparse compressed tensor layout but got {title}"
                )
        raise EngineError(
            "resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self "
            f"({titles[0]}) and source ({titles[1]})"
        )
    if x._layout is sparse_coo:
        count = other._at.shape[0]
        alike = tuple(x.shape) == tuple(other.shape) and x._at.shape[0] == count
        return x if alike else sparse_resize_(x, other.shape, count, other.dim() - count)
    if tuple(x.shape) == tuple(other.shape) and x._held.shape == other._held.shape:
        return x
    held = FUNCTIONS["zeros_like"](other._held.detach(), dtype=x.dtype)
    return x.become(make(other._at, held, other.shape, True, x._layout, other._block, x._index))


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

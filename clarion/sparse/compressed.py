"""Compressed layouts: rows or columns are compressed to where they begin.

NOTE [Compressed]: the entries of a tensor with compressed rows (sparse_csr, sparse_bsr) or columns (sparse_csc, sparse_bsc)
are held place by place, as those of any sparse tensor: `_at` names the batch, the row and the column of each, and entries are
in the order of batches, then of rows (or columns). In the layouts of blocks `_at` has the places of blocks, `_held` the
blocks, and `_block` their shape. What users see, where the lines of each batch begin and what stands in them, is computed from that.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.dtypes import int32, int64, sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from ..core.tensor import Tensor, new_tensor
from ..errors import ArgumentTypeError, EngineError
from ..kernels.coo import flat_places, lines_of
from ..ops.faces.api import FUNCTIONS
from .tensor import coalesced, in_places, is_sparse, make, np, sparse

BY_ROWS = (sparse_csr, sparse_bsr)
IN_BLOCKS = (sparse_bsr, sparse_bsc)
COMPRESSED = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
TURNED = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr}
TITLES = {
    strided: "Strided", sparse_coo: "Sparse", sparse_csr: "SparseCsr", sparse_csc: "SparseCsc", sparse_bsr: "SparseBsr",
    sparse_bsc: "SparseBsc",
}  # fmt: skip


# What a compressed tensor says of itself ---------------------------------------------------------------


def batch_of(x: Any) -> tuple[int, ...]:
    """The dimensions before the matrix."""
    return tuple(x._array.shape[: x._at.shape[0] - 2])


def entries(x: Any) -> int:
    """How many there are in each batch."""
    count = math.prod(batch_of(x))
    return int(x._at.shape[1]) // count if count else 0


def pointers(x: Any) -> Any:
    """Where the compressed lines of each batch begin."""
    batch, axis = batch_of(x), 0 if x._layout in BY_ROWS else 1
    lines = x._array.shape[len(batch) + axis] // (x._block[axis] if x._block else 1)
    at = x._at._array
    counts = np.bincount(flat_places(at[:-2], batch) * lines + at[axis - 2], minlength=math.prod(batch) * lines)
    begins = np.zeros((*batch, lines + 1), x._index.numpy)
    np.cumsum(counts.reshape(*batch, lines), -1, out=begins[..., 1:])
    return new_tensor(begins)


def plain(x: Any) -> Any:
    """Where in its line each entry stands."""
    found = x._at[-1 if x._layout in BY_ROWS else -2]
    batch = batch_of(x)
    return (found.reshape(*batch, entries(x)) if batch else found).contiguous().to(x._index)


def values_of(x: Any) -> Any:
    """The entries of each batch."""
    batch = batch_of(x)
    return x._held.reshape(*batch, entries(x), *x._held.shape[1:]) if batch else x._held


def dense_dims(x: Any) -> int:
    """Dimensions of what stands at a place."""
    return int(x._held.dim()) - 1 - len(x._block)


# Made from its parts -----------------------------------------------------------------------------------


def from_parts(layout: Any, begins: Any, places: Any, held: Any, size: Any, check: bool | None) -> Any:
    """A tensor from where lines begin, the place of each entry in its line, and the entries."""
    check_dims(layout, begins, places, held)
    count = begins.dim() - 1
    block = tuple(held.shape[count + 1 : count + 3]) if layout in IN_BLOCKS else ()
    if size is None:
        size = _smallest(layout, begins, places, held, block)
    size = tuple(int(n) for n in size)
    check_form(layout, begins, places, held, size, strict=bool(check))
    check_lines(layout, begins._array, places._array, size, block, inside=check is not False, ordered=bool(check))
    batch = size[:count]
    lines = begins.shape[-1] - 1
    at = [np.repeat(row.reshape(-1), places.shape[-1]) for row in np.indices(batch)] if batch else []
    line = lines_of(begins._array) % max(lines, 1)
    other = places._array.reshape(-1).astype(np.int64)
    at += [line, other] if layout in BY_ROWS else [other, line]
    flat = held.reshape(-1, *held.shape[count + 1 :]) if count else held
    return make(new_tensor(np.stack(at)), flat, size, True, layout, block, begins.dtype)


def _smallest(layout: Any, begins: Any, places: Any, held: Any, block: tuple[int, ...]) -> tuple[int, ...]:
    """The smallest size that holds all entries."""
    pair = [begins.shape[-1] - 1, int(places._array.max()) + 1 if places.numel() else 0]
    matrix = pair if layout in BY_ROWS else pair[::-1]
    if block:
        matrix = [n * m for n, m in zip(matrix, block, strict=True)]
    count = begins.dim() - 1
    return (*begins.shape[:-1], *matrix, *held.shape[count + 1 + len(block) :])


def names_of(layout: Any) -> tuple[str, str, str, str]:
    """What its compressed and plain indices are called, and the dimensions they belong to."""
    if layout in BY_ROWS:
        return "crow_indices", "col_indices", "row", "column"
    return "ccol_indices", "row_indices", "column", "row"


def check_dims(layout: Any, begins: Any, places: Any, held: Any) -> None:
    """Refuse parts whose numbers of dimensions do not fit together."""
    first, second, _, _ = names_of(layout)
    batch, blocks = begins.dim() - 1, 2 if layout in IN_BLOCKS else 0
    if begins.dim() < 1:
        raise EngineError(f"{first} must have dimensionality >= 1 but got {begins.dim()}")
    if begins.dim() != places.dim():
        raise EngineError(
            f"{first} and {second} dimensionalities must be equal but got {begins.dim()} and {places.dim()}, respectively"
        )
    if held.dim() <= batch + blocks:
        raise EngineError(
            f"values must have dimensionality > sum of batch and block dimensionalities (={batch} + {blocks}) but got {held.dim()}"
        )


def check_form(layout: Any, begins: Any, places: Any, held: Any, size: tuple[int, ...], strict: bool) -> None:
    """Refuse parts whose shapes and types do not fit together."""
    first, second, line, _ = names_of(layout)
    batch, blocks = begins.dim() - 1, 2 if layout in IN_BLOCKS else 0
    inner = held.dim() - batch - blocks - 1
    if len(size) != batch + 2 + inner:
        raise EngineError(
            f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (={batch} + 2 + {inner}) "
            f"but got {len(size)}"
        )
    for name, part in ((second, places), (first, begins)) if strict else ():
        if part.shape[-1] > 1 and part.stride(-1) != 1:
            raise EngineError(f"expected {name} to be a contiguous tensor per batch")
    found = [list(part.shape[:batch]) for part in (begins, places, held)]
    if any(each != list(size[:batch]) for each in found):
        raise EngineError(
            f"all batch dimensions of {first} (={found[0]}), {second} (={found[1]}), and values (={found[2]}) must be equal "
            f"to tensor batch dimensions (={list(size[:batch])})"
        )
    _check_matrix(layout, begins, places, held, size, line)
    if begins.dtype is not places.dtype:
        raise EngineError(
            f"{first} and {second} must have the same dtype, bot got {begins.dtype.old} and {places.dtype.old}, respectively"
        )
    if begins.dtype not in (int32, int64):
        raise EngineError(f"{first} and {second} dtype must be Int or Long, but got {begins.dtype.old}")


def _check_matrix(layout: Any, begins: Any, places: Any, held: Any, size: tuple[int, ...], line: str) -> None:
    batch, axis = begins.dim() - 1, 0 if layout in BY_ROWS else 1
    first, second, _, _ = names_of(layout)
    block = tuple(held.shape[batch + 1 : batch + 3]) if layout in IN_BLOCKS else (1, 1)
    for i, step in enumerate(block):
        if step < 1 or size[batch + i] % step:
            raise EngineError(
                f"tensor shape[{batch + i}] (={size[batch + i]}) must be divisible with blocksize[{i}] (={step}) as defined "
                "by values shape"
            )
    lines = size[batch + axis] // block[axis]
    if begins.shape[-1] != lines + 1:
        line = f"{line} block" if layout in IN_BLOCKS else line
        raise EngineError(
            f"{first}.shape[-1] must be equal to the number of {line}s + 1 (={lines + 1}), but got {begins.shape[-1]}"
        )
    if places.shape[-1] != held.shape[batch]:
        raise EngineError(
            f"{second}.shape[-1] must be equal to nnz (={held.shape[batch]}) as defined by values.shape[{batch}], "
            f"but got {places.shape[-1]}"
        )


def check_lines(
    layout: Any, begins: Any, places: Any, size: Any, block: tuple[int, ...], inside: bool, ordered: bool
) -> None:
    """Refuse lines that do not begin one after the other, entries out of their lines, and, where that is asked for, out of order."""
    first, second, line, other = names_of(layout)
    if not math.prod(begins.shape[:-1]):
        return
    count, axis = begins.ndim - 1, 0 if layout in BY_ROWS else 1
    room = size[count + 1 - axis] // (block[1 - axis] if block else 1)
    steps = np.diff(begins)
    if (begins[..., 0] != 0).any():
        raise EngineError(f"`{first}[..., 0] == 0` is not satisfied.")
    if (begins[..., -1] != places.shape[-1]).any():
        raise EngineError(f"`{first}[..., -1] == nnz` is not satisfied.")
    if steps.size and (steps.min() < 0 or (ordered and steps.max() > room)):
        raise EngineError(f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= n{other[:3]}s` is not satisfied.")
    if not inside or not places.size:
        return
    if places.min() < 0 or places.max() >= room:
        raise EngineError(f"`0 <= {second} < n{other[:3]}s` is not satisfied.")
    flat = places.reshape(-1).astype(np.int64) + lines_of(begins) * room
    if ordered and (flat[1:] <= flat[:-1]).any():
        raise EngineError(
            f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., n{line[:3]}s "
            "are sorted and distinct along the last dimension values` is not satisfied."
        )


# From one layout to another ----------------------------------------------------------------------------


def compressed(x: Any, layout: Any, block: tuple[int, ...] = (), index: Any = int64) -> Any:
    """Entries that are named place by place, with compressed rows or columns."""
    x = coalesced(x)
    at, held = x._at._array, x._held
    batch = tuple(x._array.shape[: len(at) - 2])
    if block:
        at, held = _blocks(x, at, block)
    if batch:
        if 0 in batch:
            raise EngineError(f"to_{str(layout)[6:]}: Expected product of batch dimensions to be non-zero.")
        counts = np.bincount(flat_places(at[:-2], batch), minlength=math.prod(batch))
        if len(counts) and counts.min() != counts.max():
            raise EngineError("Expect the same number of specified elements per batch.")
    return _in_lines(at, held, x._array.shape, layout, block, index)


def _in_lines(at: Any, held: Any, shape: Any, layout: Any, block: tuple[int, ...], index: Any) -> Any:
    """In the order of rows, or of columns."""
    keys = at if layout in BY_ROWS else np.concatenate((at[:-2], at[:-3:-1]))
    order = np.lexsort(keys[::-1])
    if (order[1:] < order[:-1]).any():
        at, held = at[:, order], held[new_tensor(order)]
    return make(new_tensor(at), held, shape, True, layout, block, index)


def _blocks(x: Any, at: Any, block: tuple[int, ...]) -> tuple[Any, Any]:
    """The blocks in which there are entries, and all that stands in them."""
    shape, count = x._array.shape, len(at)
    for n, step, d in zip(shape[count - 2 : count], block, (-2, -1), strict=True):
        if step < 1 or n % step:
            raise EngineError(f"tensor sparse size({d}) (={n}) must be divisible by the blocksize (={step})")
    rows, columns = block
    outer = at.copy()
    outer[-2] //= rows
    outer[-1] //= columns
    sizes = (*shape[: count - 2], shape[count - 2] // rows, shape[count - 1] // columns)
    first, group = np.unique(flat_places(outer, sizes), return_index=True, return_inverse=True)[1:]
    within = (at[-2] % rows) * columns + at[-1] % columns
    places = new_tensor(group.reshape(-1) * rows * columns + within)
    inner = x._held.shape[1:]
    held = x._held.new_zeros((len(first) * rows * columns, *inner)).index_add(0, places, x._held)
    return np.ascontiguousarray(outer[:, first]), held.reshape(len(first), rows, columns, *inner)


def to_compressed(x: Any, layout: Any, block: Any = None, inner: int | None = None) -> Any:
    """Any tensor, with compressed rows or columns."""
    block = _checked_block(x, layout, block)
    if not is_sparse(x):
        dims = x.dim() - (inner or 0)
        if dims < 2:
            raise EngineError(
                f"to_sparse: conversion from Strided to {TITLES[layout]}: at least two dimensions are needed, but got {dims}"
            )
        return compressed(sparse(x, dims), layout, block)
    _check_way(x, layout)
    if inner is not None and inner != dense_dims(x):
        raise EngineError(
            f"to_sparse: conversion from {TITLES[x._layout]} to {TITLES[layout]} with dense_dim argument !=self.dense_dim() is not supported"
        )
    if x._layout in COMPRESSED and x._block == block:
        if x._layout is layout:
            return x
        return _in_lines(x._at._array, x._held, x._array.shape, layout, block, x._index)
    return compressed(in_places(x), layout, block, x._index if x._layout in COMPRESSED else int64)


def _checked_block(x: Any, layout: Any, block: Any) -> tuple[int, ...]:
    name = "sparse_to_sparse" if is_sparse(x) else "dense_to_sparse"
    if isinstance(block, int):
        block = (block, block)
    if block is not None and len(block) != 2:
        raise EngineError(f"{name}: blocksize needs to be a tuple of size 2, but got {len(block)}")
    if layout not in IN_BLOCKS:
        if block is not None:
            raise EngineError(f"{name} for {TITLES[layout]} conversion does not use specified blocksize")
        return ()
    if block is None:
        raise EngineError(f"{name} for {TITLES[layout]} conversion requires blocksize")
    return int(block[0]), int(block[1])


def _check_way(x: Any, layout: Any) -> None:
    """Conversions that PyTorch does not have are refused, too."""
    before, after, name = (
        TITLES[x._layout],
        TITLES[layout],
        f"sparse_compressed_to_{str(layout).removeprefix('torch.')}",
    )
    if x._layout is sparse_coo and x._at.shape[0] != 2:
        raise EngineError(
            f"sparse_coo_to_sparse: conversion from {before} to {after} for input tensors with sparse_dim()!=2 is not supported"
        )
    if x._layout in (sparse_csr, sparse_csc) and layout in IN_BLOCKS and batch_of(x):
        raise EngineError(f"{name}: conversion from {before} to {after} for batched inputs is not supported")
    if x._layout in IN_BLOCKS and layout not in IN_BLOCKS:
        raise EngineError(
            f"{name}: expected SparseCsr or SparseCsc layout but got {before}\n"
            "x.to_sparse() names the places one by one, and has all layouts in reach."
        )


def turned(x: Any) -> Any:
    """Its matrices transposed: rows of the one are columns of the other, and nothing is moved."""
    count = x._at.shape[0]
    order = [*range(count - 2), count - 1, count - 2]
    shape = [x._array.shape[d] for d in order] + list(x._array.shape[count:])
    held = x._held.transpose(1, 2) if x._block else x._held
    at = x._at[new_tensor(np.array(order))]
    return make(at, held, shape, True, TURNED[x._layout], x._block[::-1], x._index)


def like(result: Any, x: Any) -> Any:
    """A result whose places are named one by one in the layout of `x`, if it can be in it."""
    fits = result._at.shape[0] == result.dim() - dense_dims(x) >= 2
    if not fits or any(n % step for n, step in zip(result.shape[result._at.shape[0] - 2 :], x._block, strict=False)):
        return result
    try:
        return compressed(result, x._layout, x._block, x._index)
    except EngineError:  # not as many in each batch
        return result


def given_values(values: Any, dtype: Any, requires_grad: bool) -> Any:
    """The entries as a tensor that is no leaf of somebody else's."""
    held = values if isinstance(values, Tensor) else FUNCTIONS["tensor"](values)
    if dtype is not None and held.dtype != dtype:
        held = held.to(dtype)
    elif held is values and held.requires_grad:
        held = held.view_as(held)  # so that the sparse tensor is no leaf
    elif held is values:
        held = held.detach()  # so that requires_grad_() of the sparse tensor is not that of the values given
    return held.detach().requires_grad_(True) if requires_grad else held


def given_indices(indices: Any) -> Any:
    """Indices as a tensor."""
    if isinstance(indices, Tensor):
        return indices.detach()
    if not hasattr(indices, "__len__"):
        raise ArgumentTypeError(f"sparse tensors are made from sequences of indices, not from {type(indices).__name__}")
    return FUNCTIONS["tensor"](indices, dtype=int64)

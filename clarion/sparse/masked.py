"""Reductions of `torch.masked` where the input is sparse: over the entries that a mask shows. The results are sparse, too."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import sparse_coo, sparse_csr
from ..core.tensor import new_tensor
from ..errors import ArgumentValueError
from ..kernels.coo import flat_places
from ..ops.faces.api import FUNCTIONS
from .compressed import compressed
from .tensor import coalesced, dense, gathered, in_places, is_sparse, make, np, sparse


def reduced(name: str, x: Any, dims: tuple[int, ...], keepdim: bool, dtype: Any, mask: Any, nothing: Any) -> Any:
    """The sum, prod, mean, amax or amin along dimensions, of the entries that the mask shows; `nothing` where there are none."""
    if x._layout not in (sparse_coo, sparse_csr):
        raise ArgumentValueError(
            f"masked {name} expects strided, sparse_coo or sparse_csr tensor (got {x._layout} tensor)"
        )
    if name == "mean" and x._layout is sparse_coo:
        raise ArgumentValueError(f"masked mean expects strided or sparse_csr tensor (got {x._layout} tensor)")
    if mask is None and name != "sum":
        kind = str(x._layout).removeprefix("torch.")
        raise ArgumentValueError(f"masked {name} expects explicit mask for {kind} tensor input")
    if x._layout is sparse_csr and dims and not keepdim:
        raise ArgumentValueError("reduction operations on CSR tensors with keepdim=False is unsupported")
    found = _shown(x, mask, nothing).to(dtype)
    if dims or not x.dim():
        dims = tuple(d for d in dims if d < x.dim())  # of a number dimension 0 may be named
        found = _over_dense(name, found, dims, keepdim)
        inner = [d for d in dims if d < x._at.shape[0]]
        if x._layout is sparse_coo and len(inner) == x._at.shape[0]:
            return _total(name, found._held, len(inner) if keepdim else 0, nothing)
        found = _over_sparse(name, found, inner, keepdim)
    return found if x._layout is sparse_coo else compressed(found, sparse_csr)


def where(mask: Any, x: Any, fill: Any) -> Any:
    """The elements where a sparse mask is true; `fill` where it is false inside of an entry."""
    found = _shown(x, mask, fill)
    return found if x._layout is sparse_coo else compressed(found, x._layout)


def _shown(x: Any, mask: Any, fill: Any) -> Any:
    """The elements where the mask is true; those without an entry are zeros, those between others in an entry are `fill`."""
    x = coalesced(in_places(x))
    if mask is None:
        return x
    if mask.shape != x.shape:
        mask = mask.to_dense().broadcast_to(x.shape)
    mask = coalesced(in_places(mask)) if is_sparse(mask) else mask.to_sparse(x._at.shape[0])
    kept = new_tensor(np.flatnonzero(mask._held._array.any(axis=tuple(range(1, mask._held.dim())))))
    at = mask._at[:, kept]
    held = gathered(dense(x), at)
    if held.dim() > 1:
        held = FUNCTIONS["where"](mask._held[kept], held, FUNCTIONS["as_tensor"](fill, dtype=held.dtype))
    return make(at, held, x.shape, True)


def _over_dense(name: str, x: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    count, held, shape = x._at.shape[0], x._held, list(x.shape)
    for d in sorted((d for d in dims if d >= count), reverse=True):
        held = FUNCTIONS[name](held, d - count + 1, keepdim)
        shape[d : d + 1] = [1] if keepdim else []
    return make(x._at, held, shape, True)


def _total(name: str, held: Any, kept: int, nothing: Any) -> Any:
    """Of all entries, as a sparse tensor."""
    found = FUNCTIONS[name](held, 0) if len(held) else held.new_full(held.shape[1:], nothing)
    return sparse(found.reshape([1] * kept + list(found.shape)))


def _over_sparse(name: str, x: Any, dims: list[int], keepdim: bool) -> Any:
    if not dims:
        return x
    at, sizes = x._at._array, tuple(x.shape)[: x._at.shape[0]]
    rest = [d for d in range(len(at)) if d not in dims]
    first, group = np.unique(
        flat_places(at[rest], tuple(sizes[d] for d in rest)), return_index=True, return_inverse=True
    )[1:]
    index = new_tensor(group.reshape(-1, *[1] * (x._held.dim() - 1))).expand(x._held.shape)
    room = x._held.new_zeros((len(first), *x._held.shape[1:]))
    held = room.scatter_reduce(0, index, x._held, name, include_self=False)
    if not rest and not held._array.any():  # the one total is kept as an entry, and no entry is zero
        first, held = first[:0], held[:0]
    found = at[:, first].copy()
    found[dims] = 0
    shape = [1 if d in dims else n for d, n in enumerate(x.shape) if keepdim or d not in dims]
    return make(new_tensor(found if keepdim else found[rest]), held, shape, True)

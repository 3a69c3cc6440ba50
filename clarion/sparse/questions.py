"""What sparse tensors say of themselves."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import sparse_coo
from ..errors import EngineError
from .compressed import BY_ROWS, COMPRESSED, TITLES, dense_dims, entries, plain, pointers, values_of
from .tensor import coalesced, handles


def _needs_places(x: Any, name: str) -> None:
    if x._layout is not sparse_coo:
        raise EngineError(f"{name} expected sparse coordinate tensor layout but got {TITLES[x._layout]}")


def _needs_order(x: Any, name: str) -> None:
    _needs_places(x, name)
    if not x._array.sorted:
        raise EngineError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")


@handles("coalesce", any_layout=True)
def coalesce(x: Any) -> Any:
    """Each place once, in order."""
    _needs_places(x, "coalesce")
    return coalesced(x)


@handles("_coalesced_")
def _claim_coalesced(x: Any, value: bool) -> Any:
    x._array.sorted = value
    return x


@handles("is_coalesced", any_layout=True)
def is_coalesced(x: Any) -> bool:
    """Does each place occur once, in order?"""
    _needs_places(x, "is_coalesced")
    return bool(x._array.sorted)


@handles("indices", any_layout=True)
def indices(x: Any) -> Any:
    """The places, one column each."""
    _needs_order(x, "indices")
    return x._at


@handles("values", any_layout=True)
def values(x: Any) -> Any:
    """The entries."""
    if x._layout is sparse_coo:
        _needs_order(x, "values")
        return x._held
    return values_of(x)


handles("_indices", any_layout=True)(lambda x: x._at)
# (Without history, as PyTorch's.)
handles("_values", any_layout=True)(lambda x: (x._held if x._layout is sparse_coo else values_of(x)).detach())
handles("_nnz", any_layout=True)(lambda x: int(x._held.shape[0]) if x._layout is sparse_coo else entries(x))
handles("sparse_dim", "_dimI", any_layout=True)(lambda x: int(x._at.shape[0]) if x._layout is sparse_coo else 2)
handles("dense_dim", "_dimV", any_layout=True)(dense_dims)


def _part(name: str, line: str, read: Any) -> None:
    by_rows = line == "row"

    def part(x: Any) -> Any:
        if x._layout not in COMPRESSED or (x._layout in BY_ROWS) is not by_rows:
            raise EngineError(f"{name} expected sparse {line} compressed tensor layout but got {TITLES[x._layout]}")
        return read(x)

    handles(name, any_layout=True)(part)


_part("crow_indices", "row", pointers)
_part("col_indices", "row", plain)
_part("ccol_indices", "column", pointers)
_part("row_indices", "column", plain)

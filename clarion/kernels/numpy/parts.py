"""Several parts of an array: each is taken by the kernel for one, which is a builtin function where kernels are compiled."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from ..registry import offer, raw


@offer("unbind", "numpy")
def unbind(x: Any, dim: int) -> Any:
    """All slices along a dimension."""
    select = raw.select
    return tuple([select(x, dim, i) for i in range(x.shape[dim])])


@offer("split_with_sizes", "numpy")
def split_with_sizes(x: Any, sizes: tuple[int, ...], dim: int) -> Any:
    """Parts of the given sizes."""
    part = raw.slice
    return tuple([part(x, dim, end - n, end, 1) for n, end in zip(sizes, accumulate(sizes), strict=True)])


@offer("split", "numpy")
def split(x: Any, size: int, dim: int) -> Any:
    """Parts of one size."""
    part = raw.slice
    return tuple([part(x, dim, i, i + size, 1) for i in range(0, x.shape[dim], size)] if size else [x])


@offer("unsplit", "numpy")
def unsplit(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    """The parts of a split put together again; a part that is None is zero."""
    given = [part for part in parts if part is not None]
    if len(given) == len(parts):
        return raw.cat(given, dim, None)
    out, place, end = np.zeros(shape, given[0].dtype), raw.slice, 0
    for part, n in zip(parts, sizes, strict=True):
        end += n
        if part is not None:
            place(out, dim, end - n, end, 1)[...] = part
    return out

"""Triangles and diagonals."""

from __future__ import annotations

from typing import Any

import numpy

from ...layout import in_rows
from ...registry import kernel


@kernel("tril")
@in_rows
def tril(xp: Any, x: Any, diagonal: int) -> Any:
    return xp.tril(x, diagonal)


@kernel("triu")
@in_rows
def triu(xp: Any, x: Any, diagonal: int) -> Any:
    return xp.triu(x, diagonal)


@kernel("diagonal")
def diagonal(xp: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = x.diagonal(offset, dim1, dim2)
    if type(x) is numpy.ndarray and x.flags.writeable:
        out.flags.writeable = True  # NumPy hands it out read-only, but it shares memory
    return out


@kernel("diagonal_copy")
def diagonal_copy(xp: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    return x.diagonal(offset, dim1, dim2).copy()


@kernel("diagonal_backward")
def diagonal_backward(xp: Any, g: Any, shape: tuple[int, ...], offset: int, dim1: int, dim2: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    diagonal(xp, out, offset, dim1, dim2)[...] = g
    return out


@kernel("diag_embed")
def diag_embed(xp: Any, x: Any, offset: int, dim1: int, dim2: int) -> Any:
    n = x.shape[-1] + abs(offset)
    first, second = sorted((dim1, dim2))
    shape = list(x.shape[:-1])
    shape.insert(first, n)
    shape.insert(second, n)
    return diagonal_backward(xp, x, tuple(shape), offset, dim1, dim2)


@kernel("trace")
def trace(xp: Any, x: Any) -> Any:
    return x.diagonal().sum(dtype=xp.int64 if x.dtype.kind in "iub" else x.dtype)

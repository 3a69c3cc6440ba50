"""Triangles of small matrices: what lies beside them is known from one call to the next."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from ..portable.shapes import diagonal as portable
from ..registry import offer

SMALL = 1 << 12  # elements


@functools.lru_cache(64)
def _beside(shape: tuple[int, int], diagonal: int, below: bool) -> Any:
    """Where a matrix is no part of the triangle."""
    inside = numpy.tri(*shape, diagonal if below else diagonal - 1, dtype=bool)
    return ~inside if below else inside


def _triangle(x: Any, diagonal: int, below: bool) -> Any:
    out = x.copy("C")
    numpy.putmask(out, _beside(x.shape, diagonal, below), _zero(x.dtype))
    return out


@functools.cache
def _zero(kind: Any) -> Any:
    return numpy.zeros((), kind)


@offer("tril", "numpy")
def _tril(x: Any, diagonal: int) -> Any:
    return _triangle(x, diagonal, True) if _is_small(x) else portable.tril(numpy, x, diagonal)


@offer("triu", "numpy")
def _triu(x: Any, diagonal: int) -> Any:
    return _triangle(x, diagonal, False) if _is_small(x) else portable.triu(numpy, x, diagonal)


def _is_small(x: Any) -> bool:
    return x.ndim == 2 and x.size <= SMALL and x.dtype.kind in "fiub"

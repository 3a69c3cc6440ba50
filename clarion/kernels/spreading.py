"""Operands that broadcast, brought to one shape where NumPy alone would be slow."""

from __future__ import annotations

import math
from typing import Any

import numpy

_SHORT = range(2, 9)  # elements of a row
_WORTH = 2048  # elements of the result
_WIDE = {8: numpy.dtype(numpy.complex64), 16: numpy.dtype(numpy.complex128)}  # which NumPy copies quickest


def with_short_rows(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands that broadcast along all but a short last dimension (boxes beside boxes), spread out before: NumPy would go through
    the rows one by one. A row is copied as one element."""
    if type(a) is not numpy.ndarray or type(b) is not numpy.ndarray or a.ndim != b.ndim or a.dtype is not b.dtype:
        return a, b
    n, size = a.shape[-1], a.itemsize
    if n not in _SHORT or n != b.shape[-1] or a.shape == b.shape or not a.strides[-1] == b.strides[-1] == size:
        return a, b
    shape = tuple([n if m == 1 else m for n, m in zip(a.shape, b.shape, strict=True)])
    if (
        a.dtype.hasobject
        or math.prod(shape) < _WORTH
        or any(m not in (1, w) for m, w in zip(a.shape, shape, strict=True))
    ):
        return a, b
    kind = _WIDE.get(n * size) or numpy.dtype(f"V{n * size}")
    return _spread_out(a, shape, kind), _spread_out(b, shape, kind)


def _spread_out(x: Any, shape: tuple[int, ...], kind: Any) -> Any:
    if x.shape == shape:
        return x
    out = numpy.empty(shape, x.dtype)
    out.view(kind)[...] = x.view(kind)
    return out

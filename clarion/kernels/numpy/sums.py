"""Small sums of floats without a detour; truths are counted."""

from __future__ import annotations

from typing import Any

import numpy

from ..portable.reductions.sums import LARGE, sum, sum_all
from ..registry import offer

add_reduce = numpy.add.reduce


@offer("sum", "numpy")
def _sum(x: Any, dim: Any, keepdim: bool) -> Any:
    if x.size < LARGE and x.dtype.kind == "f":
        return add_reduce(x, dim, None, None, keepdim)
    return sum(numpy, x, dim, keepdim)


@offer("sum_all", "numpy")
def _sum_all(x: Any) -> Any:
    if x.dtype.kind == "b":
        return numpy.int64(numpy.count_nonzero(x))
    return add_reduce(x, None) if x.size < LARGE and x.dtype.kind == "f" else sum_all(numpy, x)

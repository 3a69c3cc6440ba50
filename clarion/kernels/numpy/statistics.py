"""Standard deviations as roots of variances, which may be compiled; variances of everything as those of one row."""

from __future__ import annotations

from typing import Any

import numpy

from ..portable.reductions import statistics as portable
from ..quiet import quietly
from ..registry import offer, raw

FEW = 1 << 12  # elements that are one row: what is added up in a row stays accurate


@offer("var", "numpy")
def _var(x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    if dim is None and 0 < x.size <= FEW and x.ndim and x.dtype.char in "fd" and x.flags.c_contiguous and not keepdim:
        return raw.var(x.reshape(1, -1), (1,), correction, False).reshape(())
    return portable.var(numpy, x, dim, correction, keepdim)


@offer("std", "numpy")
@quietly
def _std(x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    return numpy.sqrt(raw.var(x, dim, correction, keepdim))

"""A sparse matrix times a dense one."""

from __future__ import annotations

from typing import Any

import numpy

from ...everywhere import has_scipy, scipy
from ...registry import kernel


@kernel("coo_mm")
def coo_mm(xp: Any, values: Any, rows: Any, columns: Any, dense: Any, count: int) -> Any:
    """The product with the matrix of `count` rows that has `values` at (rows, columns)."""
    if xp is numpy and values.dtype.kind in "fc" and values.dtype == dense.dtype and has_scipy():
        matrix = scipy("sparse").csr_array((values, (rows, columns)), shape=(count, dense.shape[0]))
        return numpy.ascontiguousarray(matrix @ dense)
    result = xp.zeros((count, dense.shape[1]), dense.dtype)
    xp.add.at(result, rows, values[:, None] * dense[columns])
    return result

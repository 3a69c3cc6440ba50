"""Arithmetic of two arrays."""

from __future__ import annotations

from typing import Any

import numpy

from ..quiet import quietly
from ..registry import kernel, override, ufunc

ufunc("add")
ufunc("mul", "multiply")
ufunc("neg", "negative")


@kernel("sub")
def sub(xp: Any, x: Any, y: Any) -> Any:
    return xp.subtract(x, y)


override("sub", numpy)(numpy.subtract)


@kernel("div")
def div(xp: Any, x: Any, y: Any) -> Any:
    return xp.true_divide(x, y)


override("div", numpy)(quietly(numpy.true_divide))


@kernel("cast")
def cast(xp: Any, x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    return x.astype(dtype)

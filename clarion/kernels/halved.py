"""Kernels of the host that take half precision as it stands: they widen what they read, compute in float32, and round what they write.

Without them float16 and bfloat16 are cast to float32 before a kernel and its results back after it: two passes more for each operand.
A backend adds what it has to `KERNELS`; the types are those of the arguments, and whatever is unusual is declined (NotImplemented).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy

from .registry import RawNamespace, raw

KERNELS: dict[str, Callable[..., Any]] = {}  # by the names of operations
LEAST = 2048  # elements of the first operand from which casts are worth avoiding
HALF = (numpy.dtype(numpy.float16), numpy.dtype(ml_dtypes.bfloat16))
F32 = numpy.dtype(numpy.float32)


class Rules:
    """How a gradient rule of an elementwise operation runs on half precision: `make(name, rule, names)`, where a backend can."""

    make: Callable[..., Callable[..., Any]] | None = None


class HalvedNamespace(RawNamespace):
    """What a gradient rule that calls one kernel sees as `ops`: arrays of half precision go in and come out."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            kernel = KERNELS.get(name)
            found = NotImplemented if kernel is None or args[0].size < LEAST else kernel(*args)
            if found is not NotImplemented:
                return found
            half = next(a.dtype for a in args if getattr(a, "dtype", None) in HALF)
            wide = [raw.cast(a, F32) if getattr(a, "dtype", None) in HALF else a for a in args]
            return raw.cast(getattr(raw, name)(*wide), half)

        setattr(self, name, call)
        return call


in_half = HalvedNamespace()

"""Batch normalization of contiguous images: some channels are a thread's chunk, each read two or three times while it is in the cache.

Blocks of a channel are added up by themselves, and their sums in float64.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..registry import offer
from . import build, machine
from .places import address
from .products.calls import F32, F64
from .products.tiles import shape_for
from .text import module

LEAST = 1 if config.COMPILE == "all" else 2048  # elements from which a call is worth it
GRAIN = 1 << 13  # elements that are worth a thread


class _Functions:
    def __init__(self, dtype: Any) -> None:
        from .channels_text import FIELDS, functions  # (not when clarion is imported)

        shape = shape_for("double" if dtype is F64 else "float", machine.processor()[1], machine.x86())
        engine = machine.compiled(module(functions(shape)))
        fields = [(name, ctypes.c_double if name == "eps" else ctypes.c_int64) for name in FIELDS]
        self.context = type("Context", (ctypes.Structure,), {"_fields_": fields})
        self.forward, self.backward = (
            machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p)
            for name in ("forward", "backward")
        )


@functools.cache
def _functions(dtype: Any) -> _Functions | None:
    """The functions of a type, compiled at first use; None where there are none."""
    if dtype is not F32 and dtype is not F64:
        return None
    try:
        return _Functions(dtype)
    except machine.NoCompiler:
        return None


def _context(on: _Functions, x: Any, eps: float, **arrays: Any) -> Any:
    """What the threads share."""
    images, channels = x.shape[:2]
    told: dict[str, Any] = {name: address(array) for name, array in arrays.items() if array is not None}
    parts = 2 * threads.number() if x.size >= GRAIN and threads.number() > 1 else 1
    told |= {"x": address(x), "images": images, "channels": channels, "length": math.prod(x.shape[2:]), "eps": eps}
    return ctypes.byref(on.context(parallel=build.running().parallel, per=-(-channels // parts), **told))


def _ready(x: Any, *others: Any) -> _Functions | None:
    """The functions for these arrays, if they are of one type, contiguous, and there is something to compute."""
    if x.ndim < 2 or not x.size:
        return None
    for array in (x, *others):
        if array is not None and (array.dtype is not x.dtype or not array.flags.c_contiguous):
            return None
    return _functions(x.dtype)


def _batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    on = _ready(x, weight, bias) if training else None
    if on is None:
        return NotImplemented
    out, mean, rstd = np.empty_like(x), np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    on.forward(_context(on, x, eps, out=out, weight=weight, bias=bias, mean=mean, rstd=rstd))
    return out, mean, rstd


def _batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    on = _ready(x, g, weight, mean, rstd) if training else None
    if on is None:
        return NotImplemented
    gx = np.empty_like(x) if needs[0] else None
    along, total = (np.empty(x.shape[1], x.dtype) if need else None for need in needs[1:3])
    on.backward(_context(on, x, 0.0, g=g, out=gx, weight=weight, mean=mean, rstd=rstd, total=total, along=along))
    return gx, along, total


def make() -> None:
    """Make all offers."""
    offer("batch_norm", "llvm", _batch_norm, least=LEAST)
    offer("batch_norm_backward", "llvm", _batch_norm_backward, least=LEAST)

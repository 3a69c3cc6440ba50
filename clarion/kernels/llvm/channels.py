"""Batch normalization of images, and of rows: some channels are a thread's chunk, each read two or three times while it is in the cache.

A channel's numbers are neighbours in memory, or the channels lie side by side (rows, `channels_last` images).
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..layout import rows
from ..quiet import quietly
from ..registry import offer
from . import build, machine
from .places import address
from .products.calls import F32, F64
from .products.tiles import shape_for
from .text import module

LEAST = 1 if config.COMPILE == "all" else 2048  # elements from which a call is worth it
GRAIN = 1 << 13  # elements that are worth a thread


class _Functions:
    def __init__(self, dtype: Any, side_by_side: bool, training: bool) -> None:
        from .channels_text import FIELDS, functions  # (not when clarion is imported)

        shape = shape_for("double" if dtype is F64 else "float", machine.processor()[1], machine.x86())
        engine = machine.compiled(module(functions(shape, side_by_side, training)))
        fields = [(name, ctypes.c_double if name == "eps" else ctypes.c_int64) for name in FIELDS]
        self.context = type("Context", (ctypes.Structure,), {"_fields_": fields})
        self.forward, self.backward = (
            machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p)
            for name in ("forward", "backward")
        )
        self.together = shape.lanes if side_by_side else 1  # channels that a thread should not share with another


@functools.cache
def _functions(dtype: Any, side_by_side: bool, training: bool) -> _Functions | None:
    """The functions of a type, compiled at first use; None where there are none."""
    if dtype is not F32 and dtype is not F64:
        return None
    try:
        return _Functions(dtype, side_by_side, training)
    except machine.NoCompiler:
        return None


def _context(on: _Functions, x: Any, eps: float, **arrays: Any) -> Any:
    """What the threads share."""
    images, channels = x.shape[:2]
    told: dict[str, Any] = {name: address(array) for name, array in arrays.items() if array is not None}
    per = channels
    if x.size >= GRAIN and threads.number() > 1:
        parts = threads.number() if on.together > 1 else 2 * threads.number()
        per = -(-channels // (parts * on.together)) * on.together
    told |= {"x": address(x), "images": images, "channels": channels, "length": math.prod(x.shape[2:]), "eps": eps}
    return ctypes.byref(on.context(parallel=build.running().parallel, per=per, **told))


def _side_by_side(x: Any) -> bool | None:
    """Do the channels lie side by side, or are a channel's numbers neighbours (False)? None: neither."""
    if x.flags.c_contiguous:
        return x.ndim == 2 or math.prod(x.shape[2:]) == 1
    return True if x.ndim > 2 and x.transpose(0, *range(2, x.ndim), 1).flags.c_contiguous else None


def _ready(x: Any, training: bool, *others: Any) -> _Functions | None:
    """The functions for an array and such that have a number for each channel, all of one type; if there is something to compute."""
    if x.ndim < 2 or not x.size or (side_by_side := _side_by_side(x)) is None:
        return None
    for array in others:
        if array is not None and (array.dtype is not x.dtype or not array.flags.c_contiguous):
            return None
    return _functions(x.dtype, side_by_side, training)


def _batch_norm(x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    on = _ready(x, training, weight, bias, *(() if training else (running_mean, running_var)))
    if on is None:
        return NotImplemented
    if training:
        mean, rstd = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    else:
        mean, rstd = running_mean.copy(), given_rstd(running_var, eps)  # a copy: the running mean moves on
    out = _room_like(x)
    on.forward(_context(on, x, eps, out=out, weight=weight, bias=bias, mean=mean, rstd=rstd))
    return _signals_in_rows(out), mean, rstd


def _room_like(x: Any) -> Any:
    """An array that lies in memory as x does. (NumPy forgets the stride of a single image.)"""
    if x.ndim == 2 or x.flags.c_contiguous:
        return np.empty(x.shape, x.dtype)
    n, c, *size = x.shape
    return np.empty((n, *size, c), x.dtype).transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _signals_in_rows(x: Any) -> Any:
    """Results for signals are contiguous: only images may have their channels last."""
    return rows(x) if x.ndim == 3 else x


@quietly
def given_rstd(var: Any, eps: float) -> Any:
    """1 / the standard deviation, where the variance is given."""
    return (1 / np.sqrt(var + eps)).astype(var.dtype, copy=False)


def _batch_norm_backward(g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    on = _ready(x, training, weight, mean, rstd) if g.dtype is x.dtype else None
    if on is None:
        return NotImplemented
    if g.strides != x.strides:  # as a mean's gradient, which is one number for many
        given, g = g, _room_like(x)
        np.copyto(g, given)
    gx = _room_like(x) if needs[0] else None
    along, total = (np.empty(x.shape[1], x.dtype) if need else None for need in needs[1:3])
    on.backward(_context(on, x, 0.0, g=g, out=gx, weight=weight, mean=mean, rstd=rstd, total=total, along=along))
    return None if gx is None else _signals_in_rows(gx), along, total


def make() -> None:
    """Make all offers."""
    offer("batch_norm", "llvm", _batch_norm, least=LEAST)
    offer("batch_norm_backward", "llvm", _batch_norm_backward, least=LEAST)

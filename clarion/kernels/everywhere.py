"""What NumPy has and other array libraries lack in part, for all of them: NumPy's own function, or the same another way."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any

import numpy

from ..errors import NotSupportedError


def dots(xp: Any, x: Any, y: Any) -> Any:
    """The scalar products along the last dimension (of complex numbers: with the conjugate of `x`)."""
    if hasattr(xp, "vecdot"):
        return xp.vecdot(x, y)
    return xp.einsum("...i,...i->...", x.conj() if x.dtype.kind == "c" else x, y)


def running(xp: Any, name: str, x: Any, axis: int) -> Any:
    """`xp.name.accumulate(x, axis)` of an associative function: without it, in steps of 1, 2, 4, …"""
    function = getattr(xp, name)
    if xp is numpy:
        return function.accumulate(x, axis=axis)
    out, n, before = x.copy(), x.shape[axis], (slice(None),) * axis
    step = 1
    while step < n:
        later, earlier = (*before, slice(step, None)), (*before, slice(n - step))
        out[later] = function(out[later], out[earlier].copy())
        step *= 2
    return out


def combine_at(xp: Any, name: str, flat: Any, places: Any, values: Any) -> None:
    """`xp.name.at(flat, places, values)` of flat arrays: without it, first comers first, then the second at each place, …"""
    if xp is numpy or getattr(xp, "all_at", False) or name in ("add", "subtract", "maximum", "minimum"):
        getattr(xp, name).at(flat, places, values)
        return
    if not places.size:
        return
    order = xp.argsort(places, kind="stable")
    ordered = places[order]
    number = xp.arange(ordered.size)
    starts = xp.zeros(ordered.shape, xp.int64)
    starts[1:] = xp.where(ordered[1:] != ordered[:-1], number[1:], 0)
    turn = number - running(xp, "maximum", starts, 0)
    values = xp.broadcast_to(values, places.shape)[order]
    for each in range(int(turn.max()) + 1):
        now = turn == each
        flat[ordered[now]] = getattr(xp, name)(flat[ordered[now]], values[now])


@functools.cache
def constant(xp: Any, value: float, kind: str) -> Any:
    """A number to compute with: NumPy is faster with 0-dim arrays than with Python's numbers."""
    return numpy.asarray(value, kind) if xp is numpy else numpy.dtype(kind).type(value)


@functools.cache
def special(xp: Any) -> Any:
    """SciPy's special functions for the arrays of `xp` (loaded here: they take a tenth of a second)."""
    if hasattr(xp, "special"):
        return xp.special
    return importlib.import_module("cupyx.scipy.special") if xp.__name__ == "cupy" else scipy("special")


@functools.cache
def has_scipy() -> bool:
    """Is SciPy installed?"""
    return importlib.util.find_spec("scipy") is not None


def scipy(part: str) -> Any:
    """A part of SciPy, which few functions need; loaded when it is."""
    if not has_scipy():
        raise NotSupportedError(
            f"This function is computed by SciPy (scipy.{part}), which is not installed: pip install clarion[scipy]"
        )
    return importlib.import_module(f"scipy.{part}")


def on_host(x: Any) -> Any:
    """The values in NumPy's memory, where random numbers are drawn."""
    return x if isinstance(x, (numpy.ndarray, numpy.generic)) else x.get()


def from_host(xp: Any, values: Any) -> Any:
    """NumPy's array as one of `xp` (an array of `xp` as it is)."""
    return values if xp is numpy else xp.asarray(values)

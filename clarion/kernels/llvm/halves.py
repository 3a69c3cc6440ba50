"""Conversions between float32 and half precision, which NumPy does number by number."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import config
from ..portable.elementwise.cast import cast as portable_cast
from ..quiet import quietly
from ..registry import offer
from . import build, machine, ufuncs
from .plan import plan
from .rounding import BF16, BITS, F16, F32, narrowed, seen_as, widened
from .text import Function, module, with_lanes

LEAST = 1 if config.COMPILE == "all" else 1024  # elements from which a call is worth it
_LANES, _GRAIN = 16, 1 << 14  # elements of a vector, and those that are worth a thread
_FLOATS, _HALVES, _SHORT = (with_lanes(_LANES, scalar) for scalar in ("float", "half", "i16"))


# From, to: in memory.
_WAYS = {
    (F32, F16): (_FLOATS, _HALVES, narrowed), (F16, F32): (_HALVES, _FLOATS, widened),
    (F32, BF16): (_FLOATS, _SHORT, narrowed), (BF16, F32): (_SHORT, _FLOATS, widened),
}  # fmt: skip


def _body(before: str, after: str, convert: Any, kind: Any) -> str:
    """The module with the body of a loop over elements."""
    f = Function("body", "void", "i64 count", "ptr places", "ptr steps")
    places = [f.variable("ptr", f.load("ptr", f.element("%places", str(k), "ptr"))) for k in (0, 1)]
    steps = [f.load("i64", f.element("%steps", str(k), "i64")) for k in (0, 1)]
    with f.counted("0", "%count"):
        now = [place.get() for place in places]
        f.store(after, convert(f, f.load(before, now[0], 2), _LANES, kind), now[1], 2)
        for place, at, step in zip(places, now, steps, strict=True):
            place.set(f.offset(at, step))
    f.end()
    return module([f])


@functools.cache
def _function(before: Any, after: Any) -> Any:
    """A function of arrays, compiled at first use; None where there is none."""
    if "f16c" not in machine.processor()[0].split():  # elsewhere LLVM would call a function for each number
        return None
    try:
        place = machine.address(
            machine.compiled(_body(*_WAYS[before, after], after if before is F32 else before)), "body"
        )
    except machine.NoCompiler:
        return None
    kinds = [seen_as(kind) for kind in (before, after)]
    made = plan(place, 1, [kind.itemsize for kind in kinds], _LANES, _GRAIN)
    return ufuncs.make(f"{before}_to_{after}", build.running().elements, made, kinds, 1)


@quietly
def _converted(x: Any, dtype: Any) -> Any:
    """An array of another type; None where that is not compiled."""
    before = next((kind for kind in (F32, F16, BF16) if x.dtype == kind), None)
    after = next((kind for kind in (F32, F16, BF16) if dtype == kind), None)
    if before is None or after is None or (before, after) not in _WAYS or not x.ndim:
        return None
    function = _function(before, after)
    if function is None:
        return None
    found = function(x.view(BITS) if before is BF16 else x)
    return found.view(BF16) if after is BF16 else found


def cast(x: Any, dtype: Any) -> Any:
    """An array of another type. (Called for all of them: asking who does it takes as long as converting a small array.)"""
    if (dtype.itemsize == 2 or x.itemsize == 2) and x.size >= LEAST:
        if any(step == 0 and n > 1 for step, n in zip(x.strides, x.shape, strict=True)):  # converted once, and copied
            once = x[tuple([slice(0, 1) if step == 0 else slice(None) for step in x.strides])]
            found = cast(once, dtype)
            seen = found.view(BITS) if found.dtype == BF16 else found  # (NumPy copies types of its own quickly)
            return np.array(np.broadcast_to(seen, x.shape), order="C").view(found.dtype)
        found = _converted(x, dtype)
        if found is not None:
            return found
    return portable_cast(np, x, dtype)


@quietly
def _into(x: Any, target: Any) -> Any:
    """The same into memory that is there."""
    before, after = (next((kind for kind in (F32, F16, BF16) if a.dtype == kind), None) for a in (x, target))
    if (before, after) not in _WAYS or x.shape != target.shape or not x.ndim:
        return NotImplemented
    function = _function(before, after)
    if function is None:
        return NotImplemented
    seen = [a.view(BITS) if a.dtype == BF16 else a for a in (x, target)]
    function(seen[0], out=seen[1])
    return target


def make() -> None:
    """Make all offers."""
    offer("cast", "llvm", cast)
    offer("cast_into", "llvm", _into, least=LEAST)

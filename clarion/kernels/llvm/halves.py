"""Conversions between float32 and half precision, which NumPy does number by number.

Numbers of bfloat16 are read and written as whole numbers of 16 bits: the upper half of a float32's, rounded to the nearest, ties to even.
"""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from ... import config
from ..portable.elementwise.cast import cast as portable_cast
from ..quiet import quietly
from ..registry import offer
from . import build, machine, ufuncs
from .plan import plan
from .text import Function, literal, module, with_lanes

LEAST = 1 if config.COMPILE == "all" else 1024  # elements from which a call is worth it
F32, F16, BF16, BITS = (np.dtype(kind) for kind in (np.float32, np.float16, ml_dtypes.bfloat16, np.uint16))
_LANES, _GRAIN = 16, 1 << 14  # elements of a vector, and those that are worth a thread
_FLOATS, _HALVES, _WORDS, _SHORT = (with_lanes(_LANES, scalar) for scalar in ("float", "half", "i32", "i16"))


def _to_bfloat(f: Function, value: str) -> str:
    """The upper half of the bits, rounded; of a NaN its sign and a quiet one."""
    bits = f.cast("bitcast", _FLOATS, value, _WORDS)
    odd = f.op("and", _WORDS, f.op("lshr", _WORDS, bits, literal(_WORDS, 16)), literal(_WORDS, 1))
    up = f.op("add", _WORDS, bits, f.op("add", _WORDS, odd, literal(_WORDS, 0x7FFF)))
    sign = f.op("and", _WORDS, bits, literal(_WORDS, -(1 << 31)))
    quiet = f.op("or", _WORDS, sign, literal(_WORDS, 0x7FC00000))
    none = f.op("icmp ugt", _WORDS, f.op("and", _WORDS, bits, literal(_WORDS, 0x7FFFFFFF)), literal(_WORDS, 0x7F800000))
    found = f.select(_WORDS, none, quiet, up)
    return f.cast("trunc", _WORDS, f.op("lshr", _WORDS, found, literal(_WORDS, 16)), _SHORT)


def _from_bfloat(f: Function, value: str) -> str:
    bits = f.op("shl", _WORDS, f.cast("zext", _SHORT, value, _WORDS), literal(_WORDS, 16))
    return f.cast("bitcast", _WORDS, bits, _FLOATS)


# From, to, in memory; and how.
_WAYS: dict[tuple[Any, Any], tuple[str, str, Any]] = {
    (F32, F16): (_FLOATS, _HALVES, lambda f, x: f.cast("fptrunc", _FLOATS, x, _HALVES)),
    (F16, F32): (_HALVES, _FLOATS, lambda f, x: f.cast("fpext", _HALVES, x, _FLOATS)),
    (F32, BF16): (_FLOATS, _SHORT, _to_bfloat),
    (BF16, F32): (_SHORT, _FLOATS, _from_bfloat),
}


def _body(before: str, after: str, convert: Any) -> str:
    """The module with the body of a loop over elements."""
    f = Function("body", "void", "i64 count", "ptr places", "ptr steps")
    places = [f.variable("ptr", f.load("ptr", f.element("%places", str(k), "ptr"))) for k in (0, 1)]
    steps = [f.load("i64", f.element("%steps", str(k), "i64")) for k in (0, 1)]
    with f.counted("0", "%count"):
        now = [place.get() for place in places]
        f.store(after, convert(f, f.load(before, now[0], 2)), now[1], 2)
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
        place = machine.address(machine.compiled(_body(*_WAYS[before, after])), "body")
    except machine.NoCompiler:
        return None
    kinds = [BITS if kind is BF16 else kind for kind in (before, after)]
    made = plan(place, 1, [kind.itemsize for kind in kinds], _LANES, _GRAIN)
    return ufuncs.make(f"{before}_to_{after}", build.running().elements, made, kinds, 1)


@quietly
def _converted(x: Any, dtype: Any) -> Any:
    """An array of another type; None where that is not compiled."""
    before = next((kind for kind in (F32, F16, BF16) if x.dtype == kind), None)
    after = next((kind for kind in (F32, F16, BF16) if dtype == kind), None)
    if before is None or after is None or (before, after) not in _WAYS or not x.ndim or 0 in x.strides:
        return None
    function = _function(before, after)
    if function is None:
        return None
    found = function(x.view(BITS) if before is BF16 else x)
    return found.view(BF16) if after is BF16 else found


def cast(x: Any, dtype: Any) -> Any:
    """An array of another type. (Called for all of them: asking who does it takes as long as converting a small array.)"""
    if (dtype.itemsize == 2 or x.itemsize == 2) and x.size >= LEAST:
        found = _converted(x, dtype)
        if found is not None:
            return found
    return portable_cast(np, x, dtype)


def make() -> None:
    """Make all offers."""
    offer("cast", "llvm", cast)

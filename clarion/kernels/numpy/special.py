"""The error function, block by block."""

from __future__ import annotations

from typing import Any

import numpy

from ..blocks import blockwise
from ..portable.elementwise.special import ERF32_P, ERF32_Q, erf64
from ..quiet import quietly
from ..registry import offer


def erf_into(out: Any, x: Any) -> None:
    """erf(x) for NumPy, written to `out` (which may be x): few temporaries, the size of a block."""
    if x.dtype != numpy.float32:
        out[...] = erf64(numpy, x)
        return
    x = numpy.minimum(x, _FOUR, out=numpy.empty_like(x))
    numpy.maximum(x, _MINUS_FOUR, out=x)
    z = numpy.multiply(x, x, numpy.empty_like(x))
    numpy.multiply(z, _P[0], out)
    for c in _P[1:-1]:
        out += c
        out *= z
    out += _P[-1]
    out *= x
    q = numpy.multiply(z, _Q[0], x)
    for c in _Q[1:-1]:
        q += c
        q *= z
    q += _Q[-1]
    out /= q


# Numbers as 0-dim arrays: NumPy takes twice as long to begin with Python's.
_FOUR, _MINUS_FOUR = numpy.asarray(4, numpy.float32), numpy.asarray(-4, numpy.float32)
_P = tuple(numpy.asarray(c, numpy.float32) for c in ERF32_P)
_Q = tuple(numpy.asarray(c, numpy.float32) for c in ERF32_Q)


offer("erf", "numpy", quietly(blockwise(erf_into)))

"""Values kept between limits, in one pass."""

from __future__ import annotations

from typing import Any

import numpy

from ..portable.elementwise.choice import clamp
from ..registry import offer

try:
    from numpy._core.umath import clip as _clip
except ImportError:  # another NumPy
    _clip = None

if _clip is not None:
    # One pass, and 4 times as fast as maximum with a single number (NumPy 2.4).
    _INFINITE = {numpy.dtype(kind): numpy.asarray(numpy.inf, kind) for kind in ("f4", "f8")}

    @offer("clamp", "numpy", writes=True)
    def clamp_numpy(x: Any, low: Any, high: Any, *, out: Any = None) -> Any:
        infinite = _INFINITE.get(x.dtype)
        if infinite is None:
            return clamp(numpy, x, low, high, out=out)
        return _clip(x, -infinite if low is None else low, infinite if high is None else high, out=out)

    @offer("clamp_min", "numpy", writes=True)
    def clamp_min_numpy(x: Any, y: Any, *, out: Any = None) -> Any:
        infinite = _INFINITE.get(x.dtype)
        return numpy.maximum(x, y, out=out) if infinite is None else _clip(x, y, infinite, out=out)

    @offer("clamp_max", "numpy", writes=True)
    def clamp_max_numpy(x: Any, y: Any, *, out: Any = None) -> Any:
        infinite = _INFINITE.get(x.dtype)
        return numpy.minimum(x, y, out=out) if infinite is None else _clip(x, -infinite, y, out=out)

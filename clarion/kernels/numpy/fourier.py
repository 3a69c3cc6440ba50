"""Fourier transforms by SciPy, where it is installed: several transforms in the lanes of a vector, and on several threads.

NumPy takes one after the other.
"""

from __future__ import annotations

import math
from typing import Any

from .. import threads
from ..everywhere import has_scipy, scipy
from ..portable.spectral.fourier import Dims, scaled
from ..registry import offer

LEAST = 1 << 11  # elements from which it is worth the call
_SHARED = 1 << 18  # bytes, before or after, from which its threads are worth being woken


def _large(x: Any, dim: Dims, *_: Any) -> bool:
    return x.size >= LEAST and x.dtype.char in "fdFD" and bool(dim) and has_scipy()


def _transformed(name: str, x: Any, dim: Dims, scale: float, n: int, **how: Any) -> Any:
    """One of SciPy's functions, with a sum that is multiplied by `scale`, by itself where that is one of its norms."""
    inverse = name.startswith("i")
    norms = {1.0: "backward", 1 / n: "forward"} if not inverse else {1.0: "forward", 1 / n: "backward"}
    norm = norms.get(scale)
    workers = threads.number() if x.nbytes >= _SHARED else 1
    found = getattr(scipy("fft"), name)(x, axes=dim, norm=norm or norms[1.0], workers=workers, **how)
    return found if norm else scaled(found, scale)


def _length(x: Any, dim: Dims) -> int:
    return math.prod(x.shape[d] for d in dim)


@offer("fft_c2c", "numpy", accepts=_large)
def _c2c(x: Any, dim: Dims, scale: float, forward: bool) -> Any:
    return _transformed("fftn" if forward else "ifftn", x, dim, scale, _length(x, dim))


@offer("fft_r2c", "numpy", accepts=_large)
def _r2c(x: Any, dim: Dims, scale: float, onesided: bool) -> Any:
    return _transformed("rfftn" if onesided else "fftn", x, dim, scale, _length(x, dim))


@offer("fft_c2r", "numpy", accepts=_large)
def _c2r(x: Any, dim: Dims, scale: float, size: int) -> Any:
    sizes = [x.shape[d] for d in dim[:-1]] + [size]
    return _transformed("irfftn", x, dim, scale, math.prod(sizes), s=sizes)

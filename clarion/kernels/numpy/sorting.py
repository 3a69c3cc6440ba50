"""Sorting numbers of 32 bits together with their places: each pair is one number of 64 bits, which the array library sorts by vectors.

The order of floats is that of integers, once the bits of negative ones are turned round; the place below makes the order stable.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..registry import offer, raw

LEAST = 512  # elements from which it is worth it
_KINDS = (np.dtype(np.float32), np.dtype(np.int32))
_TOP = np.uint32(1 << 31)


def _keys(x: Any, descending: bool) -> Any:
    """Numbers without sign in the order of `x`; NaN is greater than every number, zeros are equal."""
    if x.dtype.kind == "i":
        keys = x.view(np.uint32) ^ _TOP
    else:
        bits = (x + np.float32(0)).view(np.uint32)  # -0 becomes 0
        keys = bits ^ ((bits.view(np.int32) >> 31).view(np.uint32) | _TOP)
        keys[np.isnan(x)] = 0xFFFFFFFF
    return ~keys if descending else keys


def _places(x: Any, dim: int, descending: bool) -> Any:
    """The stable order along the last dimension; NotImplemented where this is no way to find it."""
    if x.dtype not in _KINDS or not x.ndim or dim != x.ndim - 1 or not x.flags.c_contiguous or x.shape[-1] >= 1 << 31:
        return NotImplemented
    both = _keys(x, descending).astype(np.uint64)
    both <<= np.uint64(32)
    both |= np.arange(x.shape[-1], dtype=np.uint64)
    both.sort(axis=-1)
    both &= np.uint64(0xFFFFFFFF)
    return both.view(np.int64)


def _sort(x: Any, dim: int, descending: bool) -> Any:
    places = _places(x, dim, descending)
    return places if places is NotImplemented else (raw.gather(x, places, dim), places)


for _name in ("sort", "sort_stable"):
    offer(_name, "numpy", _sort, least=LEAST)
offer("argsort", "numpy", _places, least=LEAST)

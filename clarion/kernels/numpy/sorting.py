"""Sorting numbers of 32 bits together with their places: each pair is one number of 64 bits, which the array library sorts by vectors.

The order of floats is that of integers, once the bits of negative ones are turned round; the place below makes the order stable.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..portable.indexing.sorting import keeps_order
from ..registry import offer, raw

LEAST = 512  # elements from which it is worth it
_KINDS = (np.dtype(np.float32), np.dtype(np.int32))
_TOP = np.uint32(1 << 31)
_SIGN, _PLACE = np.uint64(1 << 63), np.uint64(0xFFFFFFFF)
_UPPER = 1 if sys.byteorder == "little" else 0


def _keys(x: Any, descending: bool) -> Any:
    """Numbers without sign in the order of `x`; NaN is greater than every number, zeros are equal."""
    if x.dtype.kind == "i":
        keys = x.view(np.uint32) ^ _TOP
    else:
        bits = (x + np.float32(0)).view(np.uint32)  # -0 becomes 0
        keys = bits ^ ((bits.view(np.int32) >> 31).view(np.uint32) | _TOP)
        keys[np.isnan(x)] = 0xFFFFFFFF
    return ~keys if descending else keys


def _both(x: Any, dim: int, descending: bool) -> Any:
    """Numbers above, their places below; None where this is no way to sort."""
    if x.dtype not in _KINDS or not x.ndim or dim != x.ndim - 1 or not x.flags.c_contiguous or x.shape[-1] >= 1 << 31:
        return None
    both = _keys(x, descending).astype(np.uint64)
    both <<= np.uint64(32)
    both |= np.arange(x.shape[-1], dtype=np.uint64)
    return both


def _sort_stable(x: Any, dim: int, descending: bool) -> Any:
    both = _both(x, dim, descending)
    if both is None:
        return NotImplemented
    both.sort(axis=-1)
    both &= _PLACE
    places = both.view(np.int64)
    return raw.gather(x, places, dim), places


def _argsort(x: Any, dim: int, descending: bool) -> Any:
    both = _both(x, dim, descending)
    if both is None:
        return NotImplemented
    both.sort(axis=-1)
    if not keeps_order(x, x.shape[-1], descending):
        keys = both.view(np.uint32)[..., _UPPER::2]
        same = keys[..., 1:] == keys[..., :-1]
        if np.count_nonzero(same):  # equals come out as of PyTorch's sort: kernels/portable/indexing/equals.py
            rows = same.any(axis=-1)
            both[rows] = raw.exchanged(_ranked(x[rows], descending), 0, True).view(np.uint64)
    both &= _PLACE
    return both.view(np.int64)


def _ranked(rows: Any, descending: bool) -> Any:
    both = _both(rows, rows.ndim - 1, descending)
    return NotImplemented if both is None else (both ^ _SIGN).view(np.int64)


def _sort(x: Any, dim: int, descending: bool) -> Any:
    places = _argsort(x, dim, descending)
    return places if places is NotImplemented else (raw.gather(x, places, dim), places)


offer("sort", "numpy", _sort, least=LEAST)
offer("sort_stable", "numpy", _sort_stable, least=LEAST)
offer("ranked", "numpy", _ranked, least=1)
offer("argsort", "numpy", _argsort, least=LEAST)

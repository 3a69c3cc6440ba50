"""Evenly spaced numbers, rounded as PyTorch rounds them (its AVX2 build, the usual one)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .boxmuller import fma64
from .quiet import quietly

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def arange_length(start: float, end: float, step: float) -> int:
    """How many numbers lie in [start, end)."""
    if isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return max(-((start - end) // step), 0)
    return max(math.ceil((end - start) / step), 0)


@quietly
def arange(start: float, step: float, n: int, dtype: Any) -> Any:
    """start, start + step, …: integers exactly, floats in the steps of PyTorch's vector loop.

    The loop takes two vectors at a time. Each starts from start + step·i rounded to the type and adds
    multiples of the step in float64; the odd end is computed one by one.
    """
    if dtype.kind in "iu":
        # Start and step are truncated first, as C converts them.
        return (np.arange(n, dtype=np.int64) * int(step) + int(start)).astype(dtype)
    values = _round(_times_plus(np.arange(n, dtype=np.float64), step, start, dtype), dtype)
    width = 32 // dtype.itemsize
    whole = n - n % (2 * width)
    if whole:
        first = values[:whole:width].astype(np.float64).repeat(width)
        within = np.tile(np.arange(width, dtype=np.float64), whole // width)
        # For float64 the sum is fused; k·step fits into an extended double.
        wide = np.longdouble if dtype == _F64 else np.float64
        values[:whole] = _round(first.astype(wide) + within.astype(wide) * wide(step), dtype)
    return values


def _times_plus(i: Any, step: float, start: Any, dtype: Any) -> Any:
    """i·step + start in float64; fused where float64 is the type itself."""
    return fma64(i, float(step), start) if dtype == _F64 else i * step + start


def _round(values: Any, dtype: Any) -> Any:
    """To `dtype`; half types are reached through float32, with its own rounding."""
    return values.astype(dtype) if dtype.itemsize >= 4 else values.astype(np.float32).astype(dtype)


def _fused(i: Any, step: Any, start: Any, dtype: Any) -> Any:
    """start + step·i with one rounding."""
    if dtype == _F64:
        return fma64(i, float(step), float(start))
    return (i * float(step) + float(start)).astype(dtype)


def _ends(start: Any, end: Any, n: int, dtype: Any) -> Any:
    """n numbers from start to end: the first half counted from the start, the second from the end."""
    start, end = dtype.type(start), dtype.type(end)
    step = dtype.type((end - start) / dtype.type(n - 1))
    i = np.arange(n, dtype=np.float64)
    half = n // 2
    return np.concatenate([_fused(i[:half], step, start, dtype), _fused(i[: n - half][::-1], -step, end, dtype)])


@quietly
def linspace(start: Any, end: Any, n: int, dtype: Any) -> Any:
    """n numbers from start to end."""
    if n == 0:
        return np.empty(0, dtype)
    if n == 1:
        return np.array([start]).astype(dtype)
    if dtype.kind in "iu":
        return _integer_steps(start, end, n, dtype)
    if dtype.kind == "c":
        start, end = complex(start), complex(end)
        part = _F32 if dtype.itemsize == 8 else _F64
        real, imag = _ends(start.real, end.real, n, part), _ends(start.imag, end.imag, n, part)
        return (real + 1j * imag).astype(dtype)
    if dtype in (_F32, _F64):
        return _ends(start, end, n, dtype)
    rounded = [float(np.float32(value).astype(dtype)) for value in (start, end)]  # half types: in float32
    return _half_steps(*rounded, n, dtype)


def _half_steps(start: float, end: float, n: int, dtype: Any) -> Any:
    gap = float(np.float32(end - start).astype(dtype))
    step = float(np.float32(gap / float(np.float32(n - 1).astype(dtype))).astype(dtype))
    i = np.arange(n, dtype=np.float32)
    half = n // 2
    # Products and sums are each rounded to the half type.
    products = (step * i[: n - half]).astype(np.float32).astype(dtype).astype(np.float32)
    low, high = start + products[:half], end - products[::-1]
    return np.concatenate([low, high]).astype(np.float32).astype(dtype)


def _integer_steps(start: Any, end: Any, n: int, dtype: Any) -> Any:
    """Integers: the ends are truncated, the steps taken in float64, each number truncated."""
    first, last = (int(np.array(int(each)).astype(dtype)) for each in (start, end))
    moved = (last - first) / (n - 1) * np.arange(n - n // 2, dtype=np.float64)
    return np.concatenate([first + moved[: n // 2], last - moved[::-1]]).astype(np.int64).astype(dtype)


@quietly
def logspace(start: Any, end: Any, n: int, base: float, dtype: Any) -> Any:
    """base ** each of n numbers from start to end."""
    if dtype.kind in "iu":
        exponents = linspace(int(start), int(end), n, _F32)  # the ends are truncated, as C converts them
        return np.power(float(base), exponents.astype(np.float64)).astype(np.int64).astype(dtype)
    if dtype.kind == "c":
        return np.power(complex(base), linspace(start, end, n, dtype)).astype(dtype)
    if dtype in (_F32, _F64):
        return np.power(dtype.type(base), linspace(start, end, n, dtype))
    exponents = linspace(start, end, n, dtype).astype(np.float32)
    return np.power(np.float32(base), exponents).astype(dtype)

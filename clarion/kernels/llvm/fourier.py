"""Fourier transforms along the last dimension, of as many numbers as a power of two: compiled, rows shared by threads (fourier_text.py)."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..registry import offer
from . import build, machine
from .fourier_text import FIELDS, KINDS, functions
from .places import address
from .products.tiles import Shape, shape_for
from .text import module

Dims = tuple[int, ...]
LEAST = 1 if config.COMPILE == "all" else 1 << 11  # elements from which it is worth the call
LARGEST = 1 << 16  # numbers of a row whose matrices stay in the caches
SHARED = 1 << 15  # numbers from which threads are worth waking


@functools.cache
def _functions(size: int) -> tuple[Shape, dict[str, Any]] | None:
    """What a tile of vectors is, and the functions; None where there are none."""
    if not machine.multiplies_and_adds():
        return None
    x86 = machine.x86()
    shape = shape_for("double" if size == 8 else "float", machine.processor()[1], x86)
    try:
        engine = machine.compiled(module(functions(shape, x86)))
    except machine.NoCompiler:
        return None
    signature = None, ctypes.c_void_p, ctypes.c_int64
    return shape, {kind: machine.callable_at(machine.address(engine, kind), *signature) for kind in KINDS}


def _turns(numbers: Any, whole: int) -> Any:
    """exp(-2πi n / whole)."""
    return np.exp(-2j * np.pi * (numbers % whole) / whole)


@functools.lru_cache(maxsize=32)
def _tables(n: int, itemsize: int, lanes: int) -> tuple[dict[str, int], list[Any]]:
    """Sizes and tables of a transform of n complex numbers, as the functions are told of them; and what must be kept for that."""
    dtype = np.dtype(f"f{itemsize}")
    n2 = 1 << (n.bit_length() - 1) // 2
    n1 = n // n2
    tables = [_turns(np.arange(size), size).view(float) for size in (n1, n2)]
    for numbers, whole in (
        (np.arange(n1)[None, :, None] * np.arange(n2).reshape(-1, 1, lanes), n), (np.arange(n).reshape(-1, lanes), 2 * n),
    ):  # fmt: skip
        turns = _turns(numbers, whole)
        tables.append(np.stack([turns.real, turns.imag], -2).reshape(-1))
    kept = [np.ascontiguousarray(table, dtype) for table in tables]
    pitch = n1 + lanes  # (rows that lie a power of two apart would meet in the cache)
    bytes_ = (2 * n2 * pitch + 4 * max(n1, n2) * lanes + 2 * (n + lanes)) * itemsize
    told = {"n1": n1, "n2": n2, "pitch": pitch, "bytes": -(-bytes_ // 64) * 64}
    return told | dict(zip(("table1", "table2", "angles", "halves"), map(address, kept), strict=True)), kept


def _transformed(kind: str, x: Any, dim: Dims, scale: float, n: int, width: int, dtype: Any) -> Any:
    """Rows of x, n complex numbers each, become rows of `width` numbers of a type."""
    size = 4 if x.dtype.char in "fF" else 8
    found = _functions(size) if x.dtype.char in "fdFD" and dim == (x.ndim - 1,) and x.size >= LEAST else None
    if found is None or n > LARGEST or n & (n - 1) or n < found[0].lanes ** 2:
        return NotImplemented
    shape, runs = found
    x, out = np.ascontiguousarray(x), np.empty((*x.shape[:-1], width), dtype)
    told, _ = _tables(n, size, shape.lanes)
    rows = math.prod(x.shape[:-1])
    several = threads.number() > 1 and rows * n >= SHARED
    per = -(-rows // (min(rows, 2 * threads.number()) if several else 1))
    told = told | {
        "x": address(x), "out": address(out), "x_step": x.shape[-1] * x.itemsize, "out_step": width * out.itemsize,
        "rows": rows, "per": per, "scale": struct.unpack("<q", struct.pack("<d", scale))[0],
        "parallel": build.running().parallel if several else 0,
    }  # fmt: skip
    runs[kind]((ctypes.c_int64 * len(FIELDS))(*[told[name] for name in FIELDS]), -(-rows // per))
    return out


def _c2c(x: Any, dim: Dims, scale: float, forward: bool) -> Any:
    n = x.shape[-1] if x.ndim else 0
    return _transformed("forward" if forward else "inverse", x, dim, scale, n, n, x.dtype)


def _r2c(x: Any, dim: Dims, scale: float, onesided: bool) -> Any:
    n, odd = divmod(x.shape[-1], 2)
    if not onesided or odd:
        return NotImplemented
    return _transformed("to_half", x, dim, scale, n, n + 1, np.dtype("F" if x.dtype.char == "f" else "D"))


def _c2r(x: Any, dim: Dims, scale: float, size: int) -> Any:
    n, odd = divmod(size, 2)
    if odd or x.shape[-1] != n + 1:
        return NotImplemented
    return _transformed("from_half", x, dim, scale, n, size, np.dtype("f" if x.dtype.char == "F" else "d"))


def make() -> None:
    """Make all offers."""
    for name, function in (("fft_c2c", _c2c), ("fft_r2c", _r2c), ("fft_c2r", _c2r)):
        offer(name, "llvm", function, least=LEAST)

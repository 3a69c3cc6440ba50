"""Matrix products of float32: transposes are flags or strides, a batch is one call, a bias is there before the product is added.

Two matrices go to `sgemm` (a tenth faster than OpenBLAS on one thread), batches to a primitive that shares the
matrices among the threads, where NumPy takes one after the other on one.
"""

from __future__ import annotations

import math
from ctypes import byref, c_void_p
from functools import lru_cache
from typing import Any

import numpy

from ..portable.products.matmul import _rows
from ..registry import offer
from . import library as onednn
from .library import Failed, library
from .primitives import DST, KEPT, SRC, WEIGHTS, Primitive, address, layout

F32 = numpy.dtype(numpy.float32)
LEAST = 1 << 21  # multiplications from which a product is worth the call (about 5 µs)
LEAST_OF_BATCH = 1 << 20  # and all products of a batch
ELEMENTS = 1024  # of the first operand: with fewer nobody asks


# Two matrices -----------------------------------------------------------------------------------------------


def _flag(x: Any) -> tuple[bytes, int] | None:
    """Is a matrix transposed for sgemm, and how far apart are its rows (columns)? None where neither lie together."""
    (rows, columns), (one, other) = x.shape, x.strides
    if other == 4 and one >= 4 * columns:
        return b"N", one >> 2
    return (b"T", other >> 2) if one == 4 and other >= 4 * rows else None


def product(x: Any, y: Any, bias: Any = None) -> Any:
    """x @ y of two matrices, plus a bias for each column."""
    if x.dtype is not F32 or y.dtype is not F32 or x.size * y.shape[1] < LEAST or x.shape[1] != y.shape[0]:
        return NotImplemented
    first, second = _flag(x), _flag(y)
    if first is None or second is None or (bias is not None and bias.dtype is not F32):
        return NotImplemented
    if not onednn.running.acquire(False):
        return NotImplemented
    try:
        sgemm = library().sgemm
        rows, columns = x.shape[0], y.shape[1]
        out = numpy.empty((rows, columns), F32)
        if bias is not None:
            out[...] = bias
        (t1, step1), (t2, step2) = first, second
        sgemm(
            t1, t2, rows, columns, x.shape[1], 1.0, address(x), step1, address(y), step2,
            0.0 if bias is None else 1.0, address(out), columns,
        )  # fmt: skip
        return out
    except Failed:
        return NotImplemented
    finally:
        onednn.running.release()


def _fold(x: Any, y: Any, bias: Any = None) -> Any:
    """The same with any number of leading dimensions."""
    if x.ndim == 2:
        return product(x, y, bias)
    out = product(_rows(x), y, bias)
    return out if out is NotImplemented else out.reshape(*x.shape[:-1], y.shape[1])


for _name in ("fold_mm", "mm"):
    offer(_name, "onednn", _fold, least=ELEMENTS)


@offer("fold_nt", "onednn", least=ELEMENTS)
@offer("mm_nt", "onednn", least=ELEMENTS)
def _fold_nt(x: Any, y: Any) -> Any:
    return _fold(x, y.T)


@offer("fold_tn", "onednn", least=ELEMENTS)
def _fold_tn(x: Any, y: Any) -> Any:
    return product(_rows(x).T, _rows(y))


@offer("linear", "onednn", least=ELEMENTS)
@offer("linear_rows", "onednn", least=ELEMENTS)
def _linear(x: Any, w: Any, b: Any) -> Any:
    return _fold(x, w.T, b)


@offer("addmm", "onednn", least=1)
def _addmm(x: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return product(mat1, mat2, x) if beta == 1 and alpha == 1 else NotImplemented


# Batches ----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=KEPT)
def _batched(x: Any, y: Any, out: Any) -> Primitive | None:
    """The primitive for arrays of given shapes and strides."""
    steps = tuple([math.prod(out[i + 1 :]) for i in range(len(out))])
    layouts = {SRC: layout(*x), WEIGHTS: layout(*y), DST: layout(out, steps)}
    description = c_void_p()
    try:
        library().matmul_primitive_desc_create(
            byref(description), library().engine, layouts[SRC], layouts[WEIGHTS], None, layouts[DST], None
        )
    except Failed:
        return None
    return Primitive(description, layouts)


def _lying(x: Any) -> tuple[Any, Any]:
    return x.shape, tuple([step >> 2 for step in x.strides])


def _direct(x: Any) -> bool:
    """Do rows or columns of its matrices lie together, none of them twice?"""
    one, other = x.strides[-2:]
    rows, columns = x.shape[-2:]
    together = (other == 4 and one >= 4 * columns) or (one == 4 and other >= 4 * rows)
    return together and min(x.strides) > 0


def batch(x: Any, y: Any) -> Any:
    """x @ y, matrix by matrix."""
    if x.ndim < 3 or x.ndim != y.ndim or x.dtype is not F32 or y.dtype is not F32:
        return NotImplemented
    if x.size * y.shape[-1] < LEAST_OF_BATCH or x.shape[-1] != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
        return NotImplemented
    if not (_direct(x) and _direct(y)) or not onednn.running.acquire(False):
        return NotImplemented
    try:
        shape = (*x.shape[:-1], y.shape[-1])
        primitive = _batched(_lying(x), _lying(y), shape)
        if primitive is None:
            return NotImplemented
        out = numpy.empty(shape, F32)
        primitive.run(address(x), address(y), address(out))
        return out
    except Failed:
        return NotImplemented
    finally:
        onednn.running.release()


def _matmul(x: Any, y: Any) -> Any:
    return product(x, y) if x.ndim == 2 and y.ndim == 2 else batch(x, y)


for _name in ("matmul", "bmm"):
    offer(_name, "onednn", _matmul, least=ELEMENTS)


@offer("matmul_nt", "onednn", least=ELEMENTS)
def _matmul_nt(x: Any, y: Any) -> Any:
    return _matmul(x, y.swapaxes(-1, -2)) if y.ndim > 1 else NotImplemented


@offer("matmul_tn", "onednn", least=ELEMENTS)
def _matmul_tn(x: Any, y: Any) -> Any:
    return _matmul(x.swapaxes(-1, -2), y) if x.ndim > 1 else NotImplemented

"""One row times the transpose of a matrix, as a model that writes word by word does: weights are read once, as they lie.

Tiles would bring them into panels first, which takes longer than the product. Here each result is the product of two rows in memory;
some are computed at a time, and threads share them out.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ... import threads
from .. import build, machine
from ..attention.rows import Row
from ..places import address
from ..pool import all_chunks
from ..text import Function, literal, module
from .blocks import GRAIN, least, plus, times
from .tiles import Shape, shape_for

_RESULTS = 8  # at a time
_FIELDS = ("x", "w", "bias", "out", "step", "k", "n", "per", "parallel")
_POINTERS = ("x", "w", "bias", "out", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_FIELDS.index(name)), "i64"))


def _dots(shape: Shape, results: int) -> Function:
    """Some results from w on, whose rows are `step` bytes apart."""
    f = Function(f"dots_{results}", "void", "ptr x", "ptr w", "i64 step", "i64 k", "ptr out", linkage="internal")
    r = Row(f, shape)
    rows = [f.offset("%w", times(f, "%step", str(i))) for i in range(results)]
    sums = [f.variable(shape.type, literal(shape.type, 0)) for _ in rows]

    def add(at: str, mask: str) -> None:
        x = r.get("%x", at, mask)
        for row, total in zip(rows, sums, strict=True):
            total.set(f.intrinsic("fma", shape.type, x, r.get(row, at, mask), total.get()))

    r.each("%k", add)
    for i, total in enumerate(sums):
        whole = f.let(f"extractelement {shape.type} {r.across(total.get(), r.m.add)}, i64 0")
        f.store(shape.scalar, whole, f.element("%out", str(i), shape.scalar), shape.size)
    f.end()
    return f


def _chunk(shape: Shape) -> Function:
    f = Function("one_row_chunk", "void", "ptr context", "i64 number", linkage="internal")
    x, w, bias, out, step, k = (_get(f, name) for name in ("x", "w", "bias", "out", "step", "k"))
    first = times(f, "%number", _get(f, "per"))
    end = least(f, plus(f, first, _get(f, "per")), _get(f, "n"))
    done = f.variable("i64", first)
    for results in (_RESULTS, 1):
        with f.counted(done.get(), f.op("sub", "i64", end, str(results - 1)), str(results)) as at:
            row, target = f.offset(w, times(f, at, step)), f.element(out, at, shape.scalar)
            f.line(f"call void @dots_{results}(ptr {x}, ptr {row}, i64 {step}, i64 {k}, ptr {target})")
            done.set(plus(f, at, str(results)))
    with f.when(f.op("icmp ne", "ptr", bias, "null")), f.counted(first, end) as at:
        place = f.element(out, at, shape.scalar)
        both = [f.load(shape.scalar, each, shape.size) for each in (place, f.element(bias, at, shape.scalar))]
        f.store(shape.scalar, f.op("fadd", shape.scalar, *both), place, shape.size)
    f.end()
    return f


def _run(x86: bool) -> Function:
    f = Function("one_row", "void", "ptr context", "i64 chunks")
    all_chunks(f, "one_row_chunk", "%context", "%chunks", _get(f, "parallel"), x86)
    f.end()
    return f


@functools.cache
def _function(scalar: str) -> Any:
    x86 = machine.x86()
    shape = shape_for(scalar, machine.processor()[1], x86)
    engine = machine.compiled(module([*[_dots(shape, n) for n in (_RESULTS, 1)], _chunk(shape), _run(x86)]))
    return machine.callable_at(machine.address(engine, "one_row"), None, ctypes.c_void_p, ctypes.c_int64)


def is_for(x: Any, y: Any) -> bool:
    """Is x one row, and is y the transpose of a matrix in rows?"""
    size = x.itemsize
    return x.shape[0] == 1 and x.strides[1] == size and y.strides[0] == size and y.strides[1] >= size * y.shape[0]


def product(x: Any, y: Any, bias: Any = None) -> Any:
    """x @ y, plus the bias."""
    k, n = y.shape
    out = np.empty((1, n), x.dtype)
    parts = min(threads.number(), k * n // GRAIN)
    per = -(-n // max(1, parts) // _RESULTS) * _RESULTS
    words = (
        address(x), address(y), 0 if bias is None else address(bias), address(out), y.strides[1], k, n, per,
        build.running().parallel if parts > 1 else 0,
    )  # fmt: skip
    context = (ctypes.c_int64 * len(_FIELDS))(*words)
    _function("double" if x.itemsize == 8 else "float")(ctypes.addressof(context), -(-n // per))
    return out

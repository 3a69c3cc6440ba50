"""Few rows times the transpose of a matrix, as a model that writes word by word does: weights are read once, as they lie.

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

ROWS = 16  # at most
LONG = 32  # numbers that rows of weights have for each of them, at least: adding up all lanes takes its time, too
_TOGETHER = {1: 8, 2: 8, 4: 4}  # rows at a time, and results of each: their sums stay in registers
_STEP = 8  # results that a block of weights has, which all rows meet while it is in the cache
_FIELDS = ("x", "w", "bias", "out", "x_step", "step", "m", "k", "n", "per", "parallel")
_POINTERS = ("x", "w", "bias", "out", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_FIELDS.index(name)), "i64"))


def _dots(shape: Shape, rows: int, results: int) -> Function:
    """Some results of some rows: rows of x and of w are so many bytes apart, and those of the results."""
    parameters = ("ptr x", "i64 x_step", "ptr w", "i64 step", "i64 k", "ptr out", "i64 out_step")
    f = Function(f"dots_{rows}_{results}", "void", *parameters, linkage="internal")
    r = Row(f, shape)
    left = [f.offset("%x", times(f, "%x_step", str(i))) for i in range(rows)]
    right = [f.offset("%w", times(f, "%step", str(j))) for j in range(results)]
    sums = [[f.variable(shape.type, literal(shape.type, 0)) for _ in right] for _ in left]

    def add(at: str, mask: str) -> None:
        given = [r.get(row, at, mask) for row in left]
        for j, row in enumerate(right):
            weights = r.get(row, at, mask)
            for x, line in zip(given, sums, strict=True):
                line[j].set(f.intrinsic("fma", shape.type, x, weights, line[j].get()))

    r.each("%k", add)
    for i, line in enumerate(sums):
        target = f.offset("%out", times(f, "%out_step", str(i)))
        for j, total in enumerate(line):
            whole = f.let(f"extractelement {shape.type} {r.across(total.get(), r.m.add)}, i64 0")
            f.store(shape.scalar, whole, f.element(target, str(j), shape.scalar), shape.size)
    f.end()
    return f


def _block(shape: Shape) -> Function:
    """`count` results of all rows, from `w` on."""
    f = Function("few_rows_block", "void", "ptr context", "ptr w", "ptr out", "i64 count", linkage="internal")
    x, x_step, step, m, k, n = (_get(f, name) for name in ("x", "x_step", "step", "m", "k", "n"))
    out_step, row = times(f, n, str(shape.size)), f.variable("i64", "0")
    for rows, results in sorted(_TOGETHER.items(), reverse=True):
        with f.forever() as enough:
            now = row.get()
            after = plus(f, now, str(rows))
            f.leave_when(f.op("icmp sgt", "i64", after, m), enough)
            given, target = f.offset(x, times(f, now, x_step)), f.offset("%out", times(f, now, out_step))
            done = f.variable("i64", "0")
            for some in (results, 1):
                with f.counted(done.get(), f.op("sub", "i64", "%count", str(some - 1)), str(some)) as at:
                    weights, to = f.offset("%w", times(f, at, step)), f.element(target, at, shape.scalar)
                    f.line(
                        f"call void @dots_{rows}_{some}(ptr {given}, i64 {x_step}, ptr {weights}, i64 {step}, i64 {k}, "
                        f"ptr {to}, i64 {out_step})"
                    )
                    done.set(plus(f, at, str(some)))
            row.set(after)
    f.end()
    return f


def _chunk(shape: Shape) -> Function:
    f = Function("few_rows_chunk", "void", "ptr context", "i64 number", linkage="internal")
    w, bias, out, step, m, n = (_get(f, name) for name in ("w", "bias", "out", "step", "m", "n"))
    first = times(f, "%number", _get(f, "per"))
    end = least(f, plus(f, first, _get(f, "per")), n)
    with f.counted(first, end, str(_STEP)) as at:
        weights, target = f.offset(w, times(f, at, step)), f.element(out, at, shape.scalar)
        count = least(f, f.op("sub", "i64", end, at), str(_STEP))
        f.line(f"call void @few_rows_block(ptr %context, ptr {weights}, ptr {target}, i64 {count})")
    with f.when(f.op("icmp ne", "ptr", bias, "null")), f.counted("0", m) as row, f.counted(first, end) as at:
        place = f.element(out, plus(f, times(f, row, n), at), shape.scalar)
        both = [f.load(shape.scalar, each, shape.size) for each in (place, f.element(bias, at, shape.scalar))]
        f.store(shape.scalar, f.op("fadd", shape.scalar, *both), place, shape.size)
    f.end()
    return f


def _run(x86: bool) -> Function:
    f = Function("few_rows", "void", "ptr context", "i64 chunks")
    all_chunks(f, "few_rows_chunk", "%context", "%chunks", _get(f, "parallel"), x86)
    f.end()
    return f


@functools.cache
def _function(scalar: str) -> Any:
    x86 = machine.x86()
    shape = shape_for(scalar, machine.processor()[1], x86)
    dots = [_dots(shape, rows, some) for rows, results in _TOGETHER.items() for some in (results, 1)]
    engine = machine.compiled(module([*dots, _block(shape), _chunk(shape), _run(x86)]))
    return machine.callable_at(machine.address(engine, "few_rows"), None, ctypes.c_void_p, ctypes.c_int64)


def is_for(x: Any, y: Any) -> bool:
    """Is x a few rows, and is y the transpose of a matrix in rows, which are long enough?"""
    size, m = x.itemsize, len(x)
    if not 0 < m <= ROWS or (m > 1 and len(y) < LONG * m):
        return False
    return bool(x.strides[1] == size and y.strides[0] == size and y.strides[1] >= size * len(y))


def product(x: Any, y: Any, bias: Any = None) -> Any:
    """x @ y, plus the bias."""
    m, (k, n) = len(x), y.shape
    out = np.empty((m, n), x.dtype)
    parts = min(threads.number(), m * k * n // GRAIN)
    per = -(-n // max(1, parts) // _STEP) * _STEP
    words = (
        address(x), address(y), 0 if bias is None else address(bias), address(out), x.strides[0], y.strides[1], m, k, n, per,
        build.running().parallel if parts > 1 else 0,
    )  # fmt: skip
    context = (ctypes.c_int64 * len(_FIELDS))(*words)
    _function("double" if x.itemsize == 8 else "float")(ctypes.addressof(context), -(-n // per))
    return out

"""Muon's iteration in bfloat16, as PyTorch computes it: products of pairs, and between them one pass that scales, adds and rounds.

Numbers are kept as float32 that bfloat16 can hold, and once more as pairs of bfloat16, neighbours in a row (`across`) or in a column
(`down`), which is how products read them. The first two products of a step are symmetric: what lies above the diagonal is copied from
below. See NOTE [Rounding of Muon].
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .. import threads
from ..portable.updates.orthogonal import _rounded as _round
from ..registry import offer
from . import build, machine
from .kernel import Compiled
from .places import address
from .products.calls import F32, products_of_pairs
from .products.tiles import transposed
from .text import Function, literal, module, with_lanes

LANES = 16
LEAST = 64 * 64  # elements of a matrix that is worth it
_FIELDS = (
    "y", "x", "out", "across", "down", "y_row", "x_row", "out_row", "across_row", "down_row",
    "rows", "columns", "a", "c", "per", "parallel",
)  # fmt: skip
_POINTERS = ("y", "x", "out", "across", "down", "parallel")
_FLOATS, _WORDS = with_lanes(LANES, "float"), with_lanes(LANES, "i32")


def _get(f: Function, name: str) -> str:
    place = f.element("%context", str(_FIELDS.index(name)), "i64")
    return f.load("ptr" if name in _POINTERS else "double" if name in ("a", "c") else "i64", place)


def _rounded(f: Function, value: str) -> str:
    """The bits of the nearest number of bfloat16, ties to even."""
    bits = f.cast("bitcast", _FLOATS, value, _WORDS)
    odd = f.op("and", _WORDS, f.op("lshr", _WORDS, bits, literal(_WORDS, 16)), literal(_WORDS, 1))
    up = f.op("add", _WORDS, bits, f.op("add", _WORDS, odd, literal(_WORDS, 0x7FFF)))
    return f.op("and", _WORDS, up, literal(_WORDS, -65536))


def _paired(f: Function, first: str, second: str) -> str:
    """Two numbers of bfloat16 in one word, the first below."""
    return f.op("or", _WORDS, f.op("lshr", _WORDS, first, literal(_WORDS, 16)), second)


def _every_second(f: Function, one: str, other: str, first: int) -> str:
    """Every second number of two vectors."""
    places = ", ".join(f"i32 {2 * k + first}" for k in range(LANES))
    return f.let(f"shufflevector {_WORDS} {one}, {_WORDS} {other}, <{LANES} x i32> <{places}>")


def _settle_chunk() -> Function:
    """Some pairs of rows: a * x + c * y, rounded, and what is wanted of it."""
    f = Function("settle_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {name: _get(f, name) for name in _FIELDS}
    a, c = (f.spread(_FLOATS, f.cast("fptrunc", "double", value[name], "float")) for name in ("a", "c"))
    there = {name: f.op("icmp ne", "ptr", value[name], "null") for name in ("x", "out", "across", "down")}
    first = f.op("mul", "i64", "%number", value["per"])
    after = f.op("add", "i64", first, value["per"])
    end = f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {f.op('sdiv', 'i64', value['rows'], '2')}")

    def place(name: str, row: str, column: str) -> str:
        return f.element(f.offset(value[name], f.op("mul", "i64", row, value[f"{name}_row"])), column, "float")

    with f.counted(first, end) as pair, f.counted("0", value["columns"], str(2 * LANES)) as column:
        found = []
        for number in (0, 1):
            row = f.op("add", "i64", f.op("mul", "i64", pair, "2"), str(number))
            half = []
            for part in (0, LANES):
                at = f.op("add", "i64", column, str(part))
                total = f.variable(_FLOATS, f.op("fmul", _FLOATS, f.load(_FLOATS, place("y", row, at), 4), c))
                with f.when(there["x"]):
                    x = f.load(_FLOATS, place("x", row, at), 4)
                    total.set(f.intrinsic("fma", _FLOATS, x, a, total.get()))
                bits = _rounded(f, total.get())
                with f.when(there["out"]):
                    f.store(_WORDS, bits, place("out", row, at), 4)
                half.append(bits)
            with f.when(there["across"]):
                both = _paired(f, _every_second(f, *half, 0), _every_second(f, *half, 1))
                f.store(_WORDS, both, place("across", row, f.op("sdiv", "i64", column, "2")), 4)
            found.append(half)
        with f.when(there["down"]):
            for k, part in enumerate((0, LANES)):
                both = _paired(f, found[0][k], found[1][k])
                f.store(_WORDS, both, place("down", pair, f.op("add", "i64", column, str(part))), 4)
    f.end()
    return f


def _settle() -> Function:
    f = Function("settle", "void", "ptr context")
    pairs, per = f.op("sdiv", "i64", _get(f, "rows"), "2"), _get(f, "per")
    chunks = f.op("sdiv", "i64", f.op("add", "i64", pairs, f.op("sub", "i64", per, "1")), per)
    f.line(f"call void {_get(f, 'parallel')}(ptr @settle_chunk, ptr %context, i64 {chunks})")
    f.end()
    return f


def _mirror_chunk() -> Function:
    """Squares above the diagonal, from those below: one row of squares from the top and one from the bottom, which are as long as any two such."""
    f = Function("mirror_chunk", "void", "ptr context", "i64 number", linkage="internal")
    y, step = _get(f, "y"), _get(f, "y_row")
    squares = f.op("sdiv", "i64", _get(f, "rows"), str(LANES))
    bottom = f.op("sub", "i64", f.op("sub", "i64", squares, "1"), "%number")

    def place(row: str, lane: int, column: str) -> str:
        at = f.op("add", "i64", f.op("mul", "i64", row, str(LANES)), str(lane))
        return f.element(f.offset(y, f.op("mul", "i64", at, step)), f.op("mul", "i64", column, str(LANES)), "float")

    for row in ("%number", bottom):
        with f.counted(f.op("add", "i64", row, "1"), squares) as column:
            lines = [f.load(_FLOATS, place(column, lane, row), 4) for lane in range(LANES)]
            for lane, line in enumerate(transposed(f, _FLOATS, lines)):
                f.store(_FLOATS, line, place(row, lane, column), 4)
    f.end()
    return f


def _mirror() -> Function:
    f = Function("mirror", "void", "ptr context")
    chunks = f.op("sdiv", "i64", _get(f, "rows"), str(2 * LANES))
    f.line(f"call void {_get(f, 'parallel')}(ptr @mirror_chunk, ptr %context, i64 {chunks})")
    f.end()
    return f


@functools.cache
def _functions() -> tuple[Any, Any]:
    engine = machine.compiled(module([_settle_chunk(), _settle(), _mirror_chunk(), _mirror()]))
    settle, mirror = (
        machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p) for name in ("settle", "mirror")
    )
    return settle, mirror


class _Settle(ctypes.Structure):
    """What a pass is told."""

    _fields_ = [(name, ctypes.c_double if name in ("a", "c") else ctypes.c_int64) for name in _FIELDS]


def _pass(
    y: Any, c: float = 1.0, x: Any = None, a: float = 0.0, out: Any = None, across: Any = None, down: Any = None
) -> None:
    """a * x + c * y, rounded to bfloat16: into `out`, and as pairs."""
    told = {"rows": y.shape[0], "columns": y.shape[1], "a": a, "c": c, "parallel": build.running().parallel}
    told["per"] = max(1, y.shape[0] // (8 * threads.number()))
    for name, array in (("y", y), ("x", x), ("out", out), ("across", across), ("down", down)):
        if array is not None:
            told[name], told[f"{name}_row"] = address(array), array.strides[0]
    _functions()[0](ctypes.byref(_Settle(**told)))


BAND = 64  # columns of a symmetric product that are computed at a time, from their diagonal down


def _with_itself(multiply: Any, x: Any, out: Any) -> None:
    """The product of a matrix with its transpose: what lies above the diagonal is what lies below."""
    rows = len(x)
    if rows <= BAND:
        multiply(x, x.T, out=out)
        return
    for first in range(0, rows, BAND):
        multiply(x[first:], x[first : first + BAND].T, out=out[first:, first : first + BAND])
    told = {"y": address(out), "y_row": out.strides[0], "rows": rows, "parallel": build.running().parallel}
    _functions()[1](ctypes.byref(_Settle(**told)))


def _iterated(x: Any, a: float, b: float, c: float, steps: int) -> None:
    """Newton and Schulz's iteration of one matrix, in place."""
    multiply = products_of_pairs().matrices  # type: ignore[union-attr]
    rows, columns = x.shape
    gram, change, y = (np.empty((rows, n), np.float32) for n in (rows, rows, columns))
    x_across, square = np.empty((rows, columns // 2), np.float32), np.empty((rows, rows // 2), np.float32)
    x_down = np.empty((rows // 2, columns), np.float32)
    _pass(x, out=x, across=x_across, down=x_down)
    for _ in range(steps):
        _with_itself(multiply, x_across, gram)
        _pass(gram, out=gram, across=square)
        _with_itself(multiply, square, change)
        _pass(change, c, gram, b, across=square)
        multiply(square, x_down, out=y)
        _pass(y, 1.0, x, a, out=x, across=x_across, down=x_down)


def orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """The nearest matrices with singular values near one. `x` is overwritten."""
    rows, columns = x.shape[1:]
    if x.dtype is not F32 or rows % 32 or columns % 32 or rows * columns < LEAST or products_of_pairs() is None:
        return NotImplemented
    a, b, c = (float(np.float32(each)) for each in coefficients)
    tall = rows > columns
    x = np.ascontiguousarray(x.transpose(0, 2, 1) if tall else x)
    for each in x:
        _iterated(each, a, b, c, steps)
    return x.transpose(0, 2, 1) if tall else x


def normalized(updates: list[Any], eps: float) -> Any:
    """Matrices of one shape over their norms, in one array, rounded as in bfloat16."""
    rows, columns = updates[0].shape
    if updates[0].dtype is not F32 or rows % 2 or columns % 32 or rows * columns < LEAST:
        return NotImplemented
    x = np.stack(updates)
    flat = x.reshape(-1, columns)
    _pass(flat, out=flat)
    norm = _round(np, np.sqrt(np.einsum("nij,nij->n", x, x)))
    np.divide(x, _round(np, np.maximum(norm, np.float32(eps)))[:, None, None], x)
    _pass(flat, out=flat)
    return x


# What comes before and after: one pass each ---------------------------------------------------------------


def _exactly(x: Any, factor: Any, y: Any) -> Any:
    """x * factor + y, rounded once: in float64 the product is exact."""
    return (x.astype(np.float64) * factor + y.astype(np.float64)).astype(np.float32)


def _compiled(name: str, function: Any) -> Compiled:
    def trace(args: Any) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args)

    made = Compiled(name, trace)
    made.for_any_size = True
    return made


_from_start = _compiled("muon_between", lambda xp, start, end, factor: _exactly(end - start, factor, start))
_from_end = _compiled("muon_between", lambda xp, start, end, factor: _exactly(end - start, factor, end))
_added = _compiled("muon_add", lambda xp, p, update, keep, rate: _exactly(update, rate, p * keep))


def _number(value: Any, dtype: Any = np.float64) -> Any:
    return np.asarray(np.float32(value), dtype)


def between(start: Any, end: Any, weight: float, to: Any) -> Any:
    """start + weight * (end - start), counted from the nearer end."""
    if not start.dtype == end.dtype == to.dtype == F32:
        return NotImplemented
    if weight < 0.5:
        return _from_start(start, end, _number(weight), out=to)
    return _from_end(start, end, _number(np.float32(weight) - np.float32(1)), out=to)


def add(p: Any, update: Any, keep: float, rate: float) -> Any:
    """p = keep * p - rate * update."""
    if not p.dtype == update.dtype == F32:
        return NotImplemented
    done = _added(p, update, _number(keep, np.float32), _number(-np.float32(rate)), out=p)
    return done if done is NotImplemented else None


def make() -> None:
    """Make all offers."""
    offer("muon_orthogonal", "llvm", orthogonal, least=LEAST)
    offer("muon_between", "llvm", between, least=LEAST)
    offer("muon_add_", "llvm", add, least=LEAST)
    offer("muon_normalized", "llvm", normalized, accepts=lambda updates, eps: products_of_pairs() is not None)

"""Muon's iteration in bfloat16, as PyTorch computes it: products of pairs, and between them one pass that scales, adds and rounds.

Numbers are kept as float32 that bfloat16 can hold, and once more as pairs of bfloat16, neighbours in a row (`across`) or in a column
(`down`), which is how products read them. The first two products of a step are symmetric: what lies above the diagonal is copied from
below. See NOTE [Rounding of Muon].
"""

from __future__ import annotations

import ctypes
import functools
from array import array
from typing import Any

import numpy as np

from .. import threads
from ..portable.updates.orthogonal import _rounded as _round
from ..registry import offer
from . import build, machine
from .kernel import Compiled
from .places import address
from .products.blocks import least
from .products.calls import F32, context_of, products_of_pairs
from .products.tiles import transposed
from .text import Function, literal, module, with_lanes

LANES = 16
LEAST = 64 * 64  # elements of a matrix that is worth it
_FIELDS = (
    "y", "x", "out", "across", "down", "y_row", "x_row", "out_row", "across_row", "down_row",
    "rows", "columns", "a", "c", "per", "parallel", "parts", "block",
)  # fmt: skip
_POINTERS = ("y", "x", "out", "across", "down", "parallel", "block")
BAND = 64  # columns of a symmetric product that are computed at a time, from their diagonal down
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


# NOTE [Half of a symmetric product]: a thread owns rows of the result, and writes no others: what it has written lies in its cache, and to
# fetch a line from another processor takes longer than most arithmetic on it. Of its own square it computes bands from the diagonal
# down. Of what it shares with the owner of later rows it computes the columns of the second half of those, and leaves to the
# other the rows of the first half. Then each copies what is missing, from below the diagonal or from the other.


def _own_rows(f: Function, thread: str) -> tuple[str, str, str]:
    """Where the rows of a thread begin and end, and the middle of them."""
    rows, per = _get(f, "rows"), _get(f, "per")
    first = f.op("mul", "i64", thread, per)
    end = least(f, f.op("add", "i64", first, per), rows)
    half = f.op("sdiv", "i64", f.op("sub", "i64", end, first), str(2 * LANES))
    return first, end, f.op("add", "i64", first, f.op("mul", "i64", half, str(LANES)))


def _half_chunk() -> Function:
    """What one thread computes of a matrix times its transpose."""
    f = Function("half_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = {name: _get(f, name) for name in _FIELDS}
    first, end, middle = _own_rows(f, "%number")

    def multiply(top: str, bottom: str, left: str, right: str) -> None:
        """Rows from top to bottom, columns from left to right."""
        a, b = (f.offset(value["x"], f.op("mul", "i64", row, value["x_row"])) for row in (top, left))
        c = f.element(f.offset(value["y"], f.op("mul", "i64", top, value["y_row"])), left, "float")
        m, n = f.op("sub", "i64", bottom, top), f.op("sub", "i64", right, left)
        operands = f"ptr {a}, i64 {value['x_row']}, i64 4, ptr {b}, i64 4, i64 {value['x_row']}"
        with f.when(f.op("and", "i1", f.op("icmp sgt", "i64", m, "0"), f.op("icmp sgt", "i64", n, "0"))):
            result = f"ptr {c}, i64 {value['y_row']}, ptr null, i64 {m}, i64 {value['columns']}, i64 {n}"
            f.line(f"call void {value['block']}({operands}, {result})")

    with f.counted(first, end, str(BAND)) as band:
        multiply(band, end, band, least(f, f.op("add", "i64", band, str(BAND)), end))
    with f.counted("0", "%number") as other:
        others_first, others_end, _ = _own_rows(f, other)
        multiply(first, middle, others_first, others_end)
    with f.counted(f.op("add", "i64", "%number", "1"), value["parts"]) as other:
        _, others_end, others_middle = _own_rows(f, other)
        multiply(first, end, others_middle, others_end)
    f.end()
    return f


def _mirror_chunk() -> Function:
    """What one thread copies."""
    f = Function("mirror_chunk", "void", "ptr context", "i64 number", linkage="internal")
    y, step = _get(f, "y"), _get(f, "y_row")
    first, end, middle = _own_rows(f, "%number")

    def copy(top: str, bottom: str, left: str, right: str, above: bool = False) -> None:
        """Squares with rows from top to bottom, columns from left to right, or only those above the diagonal."""
        with f.counted(top, bottom, str(LANES)) as row:
            start = f.op("add", "i64", row, str(LANES)) if above else left
            with f.counted(start, right, str(LANES)) as column:

                def place(row: str, lane: int, column: str) -> str:
                    at = f.op("add", "i64", row, str(lane))
                    return f.element(f.offset(y, f.op("mul", "i64", at, step)), column, "float")

                lines = [f.load(_FLOATS, place(column, lane, row), 4) for lane in range(LANES)]
                for lane, line in enumerate(transposed(f, _FLOATS, lines)):
                    f.store(_FLOATS, line, place(row, lane, column), 4)

    copy(first, end, first, end, above=True)
    with f.counted("0", "%number") as other:
        others_first, others_end, _ = _own_rows(f, other)
        copy(middle, end, others_first, others_end)
    with f.counted(f.op("add", "i64", "%number", "1"), _get(f, "parts")) as other:
        others_first, _, others_middle = _own_rows(f, other)
        copy(first, end, others_first, others_middle)
    f.end()
    return f


def _half() -> Function:
    f = Function("half", "void", "ptr context")
    for name in ("half_chunk", "mirror_chunk"):
        f.line(f"call void {_get(f, 'parallel')}(ptr @{name}, ptr %context, i64 {_get(f, 'parts')})")
    f.end()
    return f


def _run_list() -> Function:
    """The commands of one matrix, one after the other. What is shared: how many there are for each, and all of them."""
    f = Function("run_list", "void", "ptr shared", "i64 number")
    count = f.load("i64", "%shared")
    first = f.op("add", "i64", f.op("mul", "i64", f.op("mul", "i64", "%number", count), "2"), "1")
    with f.counted("0", count) as k:
        place = f.element("%shared", f.op("add", "i64", first, f.op("mul", "i64", k, "2")), "i64")
        f.line(f"call void {f.load('ptr', place)}(ptr {f.load('ptr', f.element(place, '1', 'i64'))})")
    f.end()
    return f


class _Functions:
    """The compiled functions."""

    def __init__(self) -> None:
        parts = [_settle_chunk(), _settle(), _half_chunk(), _mirror_chunk(), _half(), _run_list()]
        engine = machine.compiled(module(parts))
        self.settle, self.half, self.list = (machine.address(engine, name) for name in ("settle", "half", "run_list"))
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self.run_list = machine.callable_at(self.list, None, pointer, number)
        self.parallel = machine.callable_at(build.running().parallel, None, pointer, pointer, number)


@functools.cache
def _functions() -> _Functions:
    return _Functions()


class _Settle(ctypes.Structure):
    """What a pass is told."""

    _fields_ = [(name, ctypes.c_double if name in ("a", "c") else ctypes.c_int64) for name in _FIELDS]


Command = tuple[int, Any]  # the place of a function, and its context


def _pass(
    y: Any, c: float = 1.0, x: Any = None, a: float = 0.0, out: Any = None, across: Any = None, down: Any = None
) -> Command:
    """a * x + c * y, rounded to bfloat16: into `out`, and as pairs."""
    told = {"rows": y.shape[0], "columns": y.shape[1], "a": a, "c": c, "parallel": build.running().parallel}
    told["per"] = max(1, -(-y.shape[0] // (threads.number() * 2 * LANES)) * LANES // 4)  # four for each thread
    for name, each in (("y", y), ("x", x), ("out", out), ("across", across), ("down", down)):
        if each is not None:
            told[name], told[f"{name}_row"] = address(each), each.strides[0]
    return _functions().settle, _Settle(**told)


def _with_itself(x: Any, out: Any) -> Command:
    """The product of a matrix of pairs with its transpose: NOTE [Half of a symmetric product]."""
    rows, many = len(x), threads.number()
    per = -(-rows // (many * 2 * LANES)) * 2 * LANES
    told = {
        "x": address(x), "x_row": x.strides[0], "y": address(out), "y_row": out.strides[0], "rows": rows,
        "columns": x.shape[1], "per": per, "parts": -(-rows // per), "block": products_of_pairs().block,  # type: ignore[union-attr]
        "parallel": build.running().parallel,
    }  # fmt: skip
    return _functions().half, _Settle(**told)


def _multiply(x: Any, y: Any, out: Any) -> Command:
    """A product of pairs."""
    made = products_of_pairs()
    assert made is not None
    return made.place, context_of(x, y, out)


def _run(lists: list[list[Command]]) -> None:
    """Run as many commands for each of some matrices: each on a thread of its own, where there are as many as threads."""
    words = [len(lists[0])]
    for commands in lists:
        for place, context in commands:
            words += place, context.buffer_info()[0] if isinstance(context, array) else ctypes.addressof(context)
    shared, on, many = array("q", words), _functions(), len(lists)
    start, number = shared.buffer_info()[0], threads.number()
    apart = many // number * number if number > 1 else 0
    if apart:  # (a loop inside of such a list finds the pool taken, and stays on its thread)
        on.parallel(on.list, start, apart)
    for k in range(apart, many):
        on.run_list(start, k)


def _iteration(x: Any, a: float, b: float, c: float, steps: int) -> list[Command]:
    """Newton and Schulz's iteration of one matrix, in place."""
    rows, columns = x.shape
    gram, change, y = (np.empty((rows, n), np.float32) for n in (rows, rows, columns))
    x_across, square = np.empty((rows, columns // 2), np.float32), np.empty((rows, rows // 2), np.float32)
    x_down = np.empty((rows // 2, columns), np.float32)
    step = [
        _with_itself(x_across, gram),
        _pass(gram, out=gram, across=square),
        _with_itself(square, change),
        _pass(change, c, gram, b, across=square),
        _multiply(square, x_down, y),
        _pass(y, 1.0, x, a, out=x, across=x_across, down=x_down),
    ]
    step[0][1].kept = gram, change, y, x_across, square, x_down  # they live as long as the commands
    return [_pass(x, out=x, across=x_across, down=x_down), *step * steps]


def orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """The nearest matrices with singular values near one. `x` is overwritten."""
    rows, columns = x.shape[1:]
    if x.dtype is not F32 or rows % 32 or columns % 32 or rows * columns < LEAST or products_of_pairs() is None:
        return NotImplemented
    a, b, c = (float(np.float32(each)) for each in coefficients)
    tall = rows > columns
    x = np.ascontiguousarray(x.transpose(0, 2, 1) if tall else x)
    _run([_iteration(each, a, b, c, steps) for each in x])
    return x.transpose(0, 2, 1) if tall else x


def normalized(updates: Any, eps: float) -> Any:
    """Matrices of one shape over their norms, in an array of their own, rounded as in bfloat16."""
    rows, columns = updates.shape[1:]
    if updates.dtype is not F32 or rows % 2 or columns % 32 or rows * columns < LEAST or products_of_pairs() is None:
        return NotImplemented
    x = updates.copy(order="C")
    flat = x.reshape(-1, columns)
    rounding = [_pass(flat, out=flat)]
    _run([rounding])
    norm = _round(np, np.sqrt(np.einsum("nij,nij->n", x, x)))
    np.divide(x, _round(np, np.maximum(norm, np.float32(eps)))[:, None, None], x)
    _run([rounding])
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
    offer("muon_normalized", "llvm", normalized, least=LEAST)

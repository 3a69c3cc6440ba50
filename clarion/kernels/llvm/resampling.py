"""Images resampled in one pass: a row of the result is a sum of rows, and each of its numbers a sum of few numbers of that row.

What is summed stands in lists (`starts`, `places`, `weights`: those of result `i` stand from `starts[i]` to `starts[i + 1]`), one for the rows,
one for the columns. A gradient is resampled by the transposed lists.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from .. import threads
from ..portable.layers.interpolate import table
from ..registry import offer
from . import build, machine
from .places import address
from .products.calls import F32, F64
from .text import Function, literal, module, with_lanes

GRAIN = 1 << 14  # results that are worth a thread
_FIELDS = (
    "x", "out", "row_starts", "row_places", "row_weights", "starts", "places", "weights", "lines", "rows_in", "columns_in",
    "rows", "columns", "per_result", "per", "parallel",
)  # fmt: skip
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_POINTERS = (
    "x", "out", "row_starts", "row_places", "row_weights", "starts", "places", "weights", "parallel"
)  # fmt: skip
UNROLLED = (1, 2, 4)  # numbers of a result, where they are the same for all


class Lists(NamedTuple):
    """What each result is a sum of; `each`: how many, if all are sums of as many."""

    starts: Any
    places: Any
    weights: Any
    each: int


@functools.lru_cache(maxsize=128)
def lists(mode: str, n: int, size: int, scale: float | None, align: bool, char: str, turned: bool) -> Lists | None:
    """Of `size` results from `n` numbers, or (`turned`) of the gradients of these; None where each is itself."""
    if n == size and scale is None and mode != "cubic":
        return None
    to, of, factors = [], [], []
    for where, source, weights in table(mode, n, size, scale, align):
        to.append(np.arange(size) if where is None else where)
        of.append(source)
        factors.append(np.ones(len(source)) if weights is None else weights)
    result, place, weight = (np.concatenate(parts) for parts in (to, of, factors))
    if turned:
        result, place, size = place, result, n
    order = np.argsort(result, kind="stable")
    counts = np.bincount(result, minlength=size)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    each = int(counts[0]) if size and (counts == counts[0]).all() and counts[0] in UNROLLED else 0
    return Lists(starts, place[order].astype(np.int64), weight[order].astype(char), each)


def _one(n: int, char: str) -> Lists:
    """Each result is the number at its place."""
    return Lists(np.arange(n + 1), np.arange(n), np.ones(n, char), 1)


def _value(f: Function) -> dict[str, str]:
    return {
        name: f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_PLACE[name]), "i64"))
        for name in _FIELDS
    }


def _sum_of_rows(f: Function, scalar: str, lanes: int, value: dict[str, str], row: str, base: str, target: str) -> None:
    """`target` becomes the sum of the rows that the result `row` is made of."""
    size, type_ = 8 if scalar == "double" else 4, with_lanes(lanes, scalar)
    first, end = (f.load("i64", f.element(value["row_starts"], i, "i64")) for i in (row, f.op("add", "i64", row, "1")))
    width = value["columns_in"]

    def total(column: str, kind: str) -> None:
        sum_ = f.variable(kind, literal(kind, 0))
        with f.counted(first, end) as entry:
            place = f.load("i64", f.element(value["row_places"], entry, "i64"))
            weight = f.load(scalar, f.element(value["row_weights"], entry, scalar), size)
            spread = weight if kind == scalar else f.spread(kind, weight)
            at = f.element(f.element(base, f.op("mul", "i64", place, width), scalar), column, scalar)
            sum_.set(f.intrinsic("fma", kind, f.load(kind, at, size), spread, sum_.get()))
        f.store(kind, sum_.get(), f.element(target, column, scalar), size)

    whole = f.op("sub", "i64", width, f.op("srem", "i64", width, str(lanes)))
    with f.counted("0", whole, str(lanes)) as column:
        total(column, type_)
    with f.counted(whole, width) as column:
        total(column, scalar)


def _columns(f: Function, scalar: str, value: dict[str, str], line: str, out: str) -> None:
    """Numbers of a row of the result."""
    size = 8 if scalar == "double" else 4

    def part(entry: str) -> tuple[str, str]:
        place = f.load("i64", f.element(value["places"], entry, "i64"))
        weight = f.load(scalar, f.element(value["weights"], entry, scalar), size)
        return f.load(scalar, f.element(line, place, scalar), size), weight

    for count in UNROLLED:
        with (
            f.when(f.op("icmp eq", "i64", value["per_result"], str(count))),
            f.counted("0", value["columns"]) as column,
        ):
            first = f.op("mul", "i64", column, str(count))
            total = ""
            for k in range(count):
                number, weight = part(f.op("add", "i64", first, str(k)))
                product = f.op("fmul", scalar, number, weight) if not k else ""
                total = product or f.intrinsic("fma", scalar, number, weight, total)
            f.store(scalar, total, f.element(out, column, scalar), size)
    with f.when(f.op("icmp eq", "i64", value["per_result"], "0")), f.counted("0", value["columns"]) as column:
        first, end = (
            f.load("i64", f.element(value["starts"], i, "i64")) for i in (column, f.op("add", "i64", column, "1"))
        )
        sum_ = f.variable(scalar, literal(scalar, 0))
        with f.counted(first, end) as entry:
            number, weight = part(entry)
            sum_.set(f.intrinsic("fma", scalar, number, weight, sum_.get()))
        f.store(scalar, sum_.get(), f.element(out, column, scalar), size)


def _chunk(scalar: str, lanes: int) -> Function:
    """Some rows of the result."""
    f = Function("resample_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value, size = _value(f), 8 if scalar == "double" else 4
    first = f.op("mul", "i64", "%number", value["per"])
    after = f.op("add", "i64", first, value["per"])
    end = f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {value['lines']}")
    bytes_ = f.op("and", "i64", f.op("add", "i64", f.op("mul", "i64", value["columns_in"], str(size)), "127"), "-64")
    room = f.call("aligned_alloc", "ptr", "i64 64", f"i64 {bytes_}")
    image = f.op("mul", "i64", value["rows_in"], value["columns_in"])
    as_it_is = f.op("icmp eq", "ptr", value["places"], "null")
    with f.counted(first, end) as line:
        row = f.op("srem", "i64", line, value["rows"])
        base = f.element(value["x"], f.op("mul", "i64", f.op("sdiv", "i64", line, value["rows"]), image), scalar)
        out = f.element(value["out"], f.op("mul", "i64", line, value["columns"]), scalar)
        target = f.let(f"select i1 {as_it_is}, ptr {out}, ptr {room}")
        _sum_of_rows(f, scalar, lanes, value, row, base, target)
        with f.when(f.op("xor", "i1", as_it_is, "true")):
            _columns(f, scalar, value, room, out)
    f.call("free", "void", f"ptr {room}")
    f.end()
    return f


def _all() -> Function:
    f = Function("resample", "void", "ptr context")
    value = _value(f)
    per = value["per"]
    chunks = f.op("sdiv", "i64", f.op("add", "i64", value["lines"], f.op("sub", "i64", per, "1")), per)
    f.line(f"call void {value['parallel']}(ptr @resample_chunk, ptr %context, i64 {chunks})")
    f.end()
    return f


@functools.cache
def _function(dtype: Any) -> Any:
    """The function of a type, compiled at first use; None where there is none."""
    scalar, size = ("double", 8) if dtype is F64 else ("float", 4)
    try:
        if not machine.multiplies_and_adds():
            return None
        engine = machine.compiled(module([_chunk(scalar, machine.processor()[1] // size), _all()]))
        return machine.callable_at(machine.address(engine, "resample"), None, ctypes.c_void_p)
    except machine.NoCompiler:
        return None


def _resampled(x: Any, rows: Lists, columns: Lists | None) -> Any:
    """An array seen as images (…, rows, columns), by lists for both."""
    *lead, rows_in, columns_in = x.shape
    m, n = len(rows.starts) - 1, columns_in if columns is None else len(columns.starts) - 1
    out = np.empty((*lead, m, n), x.dtype)
    lines = math.prod(lead) * m
    count = max(1, min(4 * threads.number() if threads.number() > 1 else 1, out.size // GRAIN))
    given = (None, None, None) if columns is None else columns[:3]
    context = (ctypes.c_int64 * len(_FIELDS))(
        address(x), address(out), *[address(a) for a in rows[:3]], *[0 if a is None else address(a) for a in given], lines,
        rows_in, columns_in, m, n, 0 if columns is None else columns.each, max(1, -(-lines // count)), build.running().parallel,
    )  # fmt: skip
    _function(x.dtype)(context)
    return out


def _by(x: Any, sizes: tuple[tuple[int, int], ...], mode: str, scales: Any, align: bool, turned: bool) -> Any:
    """The last dimensions resampled; `sizes`: of each before and after, of the image (not of its gradient)."""
    char = x.dtype.char
    made = [lists(mode, n, size, s, align, char, turned) for (n, size), s in zip(sizes, scales, strict=True)]
    if all(each is None for each in made):
        return x.copy()
    shape = x.shape[: x.ndim - len(sizes)]
    if len(made) == 3:
        if made[0] is not None:
            x = _resampled(x.reshape(*shape, x.shape[-3], -1), made[0], None).reshape(*shape, -1, *x.shape[-2:])
        shape, made = (*shape, x.shape[-3]), made[1:]
    if len(made) == 1:
        found = _resampled(x.reshape(*shape, 1, -1), _one(1, char), made[0])
        return found.reshape(*shape, -1)
    rows, columns = made
    return x if rows is columns is None else _resampled(x, rows or _one(x.shape[-2], char), columns)


def _is_for(x: Any, sizes: tuple[int, ...]) -> bool:
    if x.dtype is not F32 and x.dtype is not F64:
        return False
    return x.size > 0 and all(sizes) and x.flags.c_contiguous and _function(x.dtype) is not None


def _resample(x: Any, out_size: Any, mode: str, scales: Any, align: bool) -> Any:
    if not _is_for(x, tuple(out_size)):
        return NotImplemented
    return _by(x, tuple(zip(x.shape[-len(out_size) :], out_size, strict=True)), mode, tuple(scales), align, False)


def _backward(g: Any, in_size: Any, mode: str, scales: Any, align: bool) -> Any:
    g = np.ascontiguousarray(g)
    if not _is_for(g, tuple(in_size)):
        return NotImplemented
    return _by(g, tuple(zip(in_size, g.shape[-len(in_size) :], strict=True)), mode, tuple(scales), align, True)


NAMES = """
    upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_nearest_exact1d upsample_nearest_exact2d upsample_nearest_exact3d
    upsample_linear1d upsample_bilinear2d upsample_bilinear2d_aa upsample_bicubic2d_aa upsample_lanczos2d_aa upsample_trilinear3d
    upsample_bicubic2d adaptive_avg_pool2d adaptive_avg_pool3d
    """


def make(least: int) -> None:
    """Make all offers."""
    for name in NAMES.split():
        offer(name, "llvm", _resample, least=least)
    offer("resample_backward", "llvm", _backward, least=least)

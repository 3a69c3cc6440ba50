"""Rows of a table by their numbers: taken out, and added up where they came from (an embedding and its gradient).

Threads share the rows that are taken, and the columns of what is added up: so every sum has one order, that of the numbers.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..registry import offer
from . import build, lines, machine
from .places import address
from .products.calls import F32, F64
from .text import Function, literal, module, with_lanes

LEAST = 1 if config.COMPILE == "all" else 2048  # elements from which a call is worth it
GRAIN = 1 << 16  # elements that are worth a thread
_INT64 = np.dtype(np.int64)
_FIELDS = ("table", "rows", "numbers", "table_rows", "count", "width", "row_step", "skipped", "per", "parallel")
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_POINTERS = ("table", "rows", "numbers", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_PLACE[name]), "i64"))


def _part(f: Function, length: str) -> tuple[str, str]:
    """Where a chunk begins and ends."""
    first = f.op("mul", "i64", "%number", _get(f, "per"))
    after = f.op("add", "i64", first, _get(f, "per"))
    return first, f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {length}")


def _outside() -> Function:
    """How many numbers are of no row of the table."""
    f = Function("outside", "i64", "ptr context", linkage="internal")
    numbers, rows, found = _get(f, "numbers"), _get(f, "table_rows"), f.variable("i64", "0")
    with f.counted("0", _get(f, "count")) as i:
        bad = f.op("icmp uge", "i64", f.load("i64", f.element(numbers, i, "i64"), 8), rows)
        found.set(f.op("add", "i64", found.get(), f.cast("zext", "i1", bad, "i64")))
    f.end(f"i64 {found.get()}")
    return f


def _columns(f: Function, scalar: str, lanes: int, first: str, end: str, body: Any) -> None:
    """`body(column, type)` for vectors of columns, and then one by one."""
    now = f.variable("i64", first)
    for width in (4 * lanes, lanes, 1):
        with f.forever() as done:
            after = f.op("add", "i64", now.get(), str(width))
            f.leave_when(f.op("icmp sgt", "i64", after, end), done)
            body(now.get(), with_lanes(width, scalar) if width > 1 else scalar)
            now.set(after)


def _take_chunk(scalar: str, lanes: int, size: int) -> Function:
    """Some rows are taken."""
    f = Function("take_chunk", "void", "ptr context", "i64 number", linkage="internal")
    table, rows, numbers, width, step = (_get(f, name) for name in ("table", "rows", "numbers", "width", "row_step"))
    first, end = _part(f, _get(f, "count"))
    with f.counted(first, end) as i:
        which = f.load("i64", f.element(numbers, i, "i64"), 8)
        source = f.element(table, f.op("mul", "i64", which, width), scalar)
        target = f.offset(rows, f.op("mul", "i64", i, step))

        def copy(column: str, type_: str, source: str = source, target: str = target) -> None:
            f.store(
                type_, f.load(type_, f.element(source, column, scalar), size), f.element(target, column, scalar), size
            )

        _columns(f, scalar, lanes, "0", width, copy)
    f.end()
    return f


def _add_chunk(scalar: str, lanes: int, size: int) -> Function:
    """Some columns of all rows are added up."""
    f = Function("add_chunk", "void", "ptr context", "i64 number", linkage="internal")
    table, rows, numbers, width, step = (_get(f, name) for name in ("table", "rows", "numbers", "width", "row_step"))
    first, end = _part(f, width)
    skipped = _get(f, "skipped")
    with f.counted("0", _get(f, "count")) as i:
        which = f.load("i64", f.element(numbers, i, "i64"), 8)
        target = f.element(table, f.op("mul", "i64", which, width), scalar)
        source = f.offset(rows, f.op("mul", "i64", i, step))

        def add(column: str, type_: str, source: str = source, target: str = target) -> None:
            place = f.element(target, column, scalar)
            more = f.load(type_, f.element(source, column, scalar), size)
            f.store(type_, f.op("fadd", type_, f.load(type_, place, size), more), place, size)

        with f.when(f.op("icmp ne", "i64", which, skipped)):
            _columns(f, scalar, lanes, first, end, add)
    f.end()
    return f


def _run(name: str, length: str) -> Function:
    """All chunks; gives how many numbers are of no row (then nothing is done)."""
    f = Function(name, "i64", "ptr context")
    bad = f.let("call i64 @outside(ptr %context)")
    with f.when(f.op("icmp ne", "i64", bad, "0")):
        f.line(f"ret i64 {bad}")
        f.begin(*f.labels("unreachable"))
    per, whole = _get(f, "per"), _get(f, length)
    chunks = f.op("sdiv", "i64", f.op("add", "i64", whole, f.op("sub", "i64", per, "1")), per)
    several = f.op("icmp sgt", "i64", chunks, "1")
    with f.when(several):
        f.line(f"call void {_get(f, 'parallel')}(ptr @{name}_chunk, ptr %context, i64 {chunks})")
    with f.when(f.op("xor", "i1", several, "true")):
        f.line(f"call void @{name}_chunk(ptr %context, i64 0)")
    f.end(f"i64 {literal('i64', 0)}")
    return f


class Tables:
    """The functions of one type."""

    def __init__(self, dtype: Any) -> None:
        scalar, size = ("double", 8) if dtype is F64 else ("float", 4)
        lanes = machine.processor()[1] // size
        parts = [_outside(), _take_chunk(scalar, lanes, size), _add_chunk(scalar, lanes, size)]
        engine = machine.compiled(module([*parts, _run("take", "count"), _run("add", "width")]))
        self.take, self.add = (
            machine.callable_at(machine.address(engine, name), ctypes.c_int64, ctypes.c_void_p)
            for name in ("take", "add")
        )


@functools.cache
def _tables(dtype: Any) -> Tables | None:
    """The functions of a type, compiled at first use; None where there are none."""
    if dtype is not F32 and dtype is not F64:
        return None
    try:
        return Tables(dtype)
    except machine.NoCompiler:
        return None


def _context(table: Any, rows: Any, numbers: Any, skipped: int, length: int, multiple: int) -> Any:
    much = rows.size // GRAIN
    count = min(threads.number(), much) if much > 1 else 1  # (to ask for threads takes as long as a small table)
    per = -(-length // (count * multiple)) * multiple
    return (ctypes.c_int64 * len(_FIELDS))(
        address(table), address(rows), address(numbers), table.shape[0], numbers.size, table.shape[1], rows.strides[0],
        skipped, max(per, 1), build.running().parallel,
    )  # fmt: skip


def _embedding(weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if weight.ndim != 2 or indices.dtype is not _INT64 or not weight.flags.c_contiguous:
        return NotImplemented
    width = weight.shape[1]
    on = _tables(weight.dtype) if indices.size * width >= LEAST else None
    if on is None:
        return NotImplemented
    numbers, out = np.ascontiguousarray(indices), np.empty((indices.size, width), weight.dtype)
    if on.take(_context(weight, out, numbers, -1, indices.size, 1)):
        return NotImplemented  # the portable kernel says which are wrong
    return out.reshape(*indices.shape, width)


def _index_select(x: Any, index: Any, dim: int) -> Any:
    if x.ndim < 2 or not x.flags.c_contiguous:
        return NotImplemented
    if dim:
        return lines.picked(x, index.reshape(-1), dim)
    found = _embedding(x.reshape(len(x), -1), index.reshape(-1), -1, False)
    return found if found is NotImplemented else found.reshape(-1, *x.shape[1:])


def _index(x: Any, index: Any, where: tuple[int, ...]) -> Any:
    """Along one dimension; negative numbers are left to NumPy."""
    return lines.picked(x, index, where[0]) if where[0] else NotImplemented


def _gradient(g: Any, indices: Any, rows: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    if indices.dtype is not _INT64 or scale_grad_by_freq or not g.size:
        return NotImplemented
    on, width = _tables(g.dtype), g.shape[-1]
    if on is None:
        return NotImplemented
    numbers, values = np.ascontiguousarray(indices), g.reshape(-1, width)
    if values.strides[1] != values.itemsize:
        values = np.ascontiguousarray(values)
    table = np.zeros((rows, width), g.dtype)
    # (A line of the cache belongs to one thread.)
    if on.add(_context(table, values, numbers, padding_idx, width, 16)):
        return NotImplemented
    return table


def _added(table: Any, numbers: Any, rows: Any) -> bool:
    """Add rows to those of a table with these numbers; False where that is not done, and nothing changed."""
    width = table.size // len(table) if len(table) else 0
    on = _tables(table.dtype) if width and numbers.dtype is _INT64 and rows.dtype is table.dtype else None
    if on is None or rows.size != numbers.size * width:
        return False
    values = np.ascontiguousarray(rows).reshape(-1, width)
    context = _context(table.reshape(-1, width), values, np.ascontiguousarray(numbers), -1, width, 16)
    return not on.add(context)


def _add_rows(out: Any, dim: int, index: Any, rows: Any) -> Any:
    if not out.flags.c_contiguous or rows.size < LEAST:
        return NotImplemented
    if dim:
        return None if lines.added(out, index, rows, dim) else NotImplemented
    return None if _added(out, index, rows) else NotImplemented


def make() -> None:
    """Make all offers."""
    offer("embedding", "llvm", _embedding, least=1)
    offer("index_select", "llvm", _index_select, least=LEAST)
    offer("index1", "llvm", _index, least=LEAST)
    offer("add_rows", "llvm", _add_rows, least=1)
    offer("embedding_dense_backward", "llvm", _gradient, least=LEAST)

"""Loops along one dimension of an array, seen as (outer, along, inner): running sums and products, and elements by their numbers.

Threads share the outer dimension, or the inner one where there is no outer: what is added up in one place is so by one thread, in order.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..blocks import in_range
from ..registry import offer, raw
from . import build, machine
from .places import address
from .text import Function, Variable, literal, module, with_lanes

GRAIN = 1 << 14  # elements that are worth a thread
_TOGETHER = 8  # rows that are added up side by side: each waits for its last sum
_LANES = 8  # of a vector of float64
SIZES = (1, 2, 4, 8)  # bytes of elements that are moved
FEW = 1 if config.COMPILE == "all" else 2048  # elements that are moved below which NumPy is as quick
_INT64 = np.dtype(np.int64)
# `n`: how long the array is, `m`: how many numbers there are for each line; `begin` and `step`: where a scan starts, and in which direction it goes.
_FIELDS = ("x", "out", "numbers", "outer", "n", "m", "inner", "begin", "step", "by_inner", "per", "bad", "parallel")
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_POINTERS = ("x", "out", "numbers", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_PLACE[name]), "i64"))


def _part(f: Function, whole: str) -> tuple[str, str]:
    """Where a chunk begins and ends."""
    first = f.op("mul", "i64", "%number", _get(f, "per"))
    after = f.op("add", "i64", first, _get(f, "per"))
    return first, f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {whole}")


# Running sums and products --------------------------------------------------------------------------------


def _scan(f: Function, scalar: str, word: str, lanes: int, starts: list[str], n: str, step: str) -> None:
    """Lines side by side: `starts` are how far they begin; the sums are float64, whatever the type."""
    size = 8 if scalar == "double" else 4
    type_, wide = (scalar, "double") if lanes == 1 else (with_lanes(lanes, scalar), with_lanes(lanes, "double"))
    before = literal(wide, -0.0 if word == "fadd" else 1)  # what changes nothing, not even a negative zero
    totals = [f.variable(wide, before) for _ in starts]
    x, out = _get(f, "x"), _get(f, "out")
    places: list[tuple[Variable, Variable]] = [
        (f.variable("ptr", f.element(x, start, scalar)), f.variable("ptr", f.element(out, start, scalar)))
        for start in starts
    ]
    bytes_ = f.op("mul", "i64", step, str(size))
    with f.counted("0", n):
        for total, (source, target) in zip(totals, places, strict=True):
            value = f.load(type_, source.get(), size)
            value = value if scalar == "double" else f.cast("fpext", type_, value, wide)
            total.set(f.op(word, wide, total.get(), value))
            result = total.get() if scalar == "double" else f.cast("fptrunc", wide, total.get(), type_)
            f.store(type_, result, target.get(), size)
            source.set(f.offset(source.get(), bytes_))
            target.set(f.offset(target.get(), bytes_))


def _scan_chunk(scalar: str, name: str, word: str) -> Function:
    """Some lines: where they are rows, several side by side; else vectors of them, and then one by one."""
    f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    outer, n, inner, begin, step = (_get(f, each) for each in ("outer", "n", "inner", "begin", "step"))
    length = f.op("mul", "i64", n, inner)
    skipped, jump = f.op("mul", "i64", begin, inner), f.op("mul", "i64", step, inner)
    first, end = _part(f, outer)
    rows = f.op("icmp eq", "i64", inner, "1")
    now = f.variable("i64", first)
    with f.when(rows):
        for count in (_TOGETHER, 1):
            with f.forever() as done:
                after = f.op("add", "i64", now.get(), str(count))
                f.leave_when(f.op("icmp sgt", "i64", after, end), done)
                places = [f.op("add", "i64", now.get(), str(k)) for k in range(count)]
                starts = [f.op("add", "i64", f.op("mul", "i64", place, n), begin) for place in places]
                _scan(f, scalar, word, 1, starts, n, step)
                now.set(after)
    with f.counted(now.get(), end) as o:
        column, base = f.variable("i64", "0"), f.op("add", "i64", f.op("mul", "i64", o, length), skipped)
        for lanes in (_LANES, 1):
            with f.forever() as done:
                after = f.op("add", "i64", column.get(), str(lanes))
                f.leave_when(f.op("icmp sgt", "i64", after, inner), done)
                _scan(f, scalar, word, lanes, [f.op("add", "i64", base, column.get())], n, jump)
                column.set(after)
    f.end()
    return f


# Elements by their numbers ------------------------------------------------------------------------------


class _Elements:
    """Elements by their numbers along a dimension: taken out ("pick"), put there ("put"; "fill": one element everywhere), or added up
    there ("add"). All lines have the same numbers where the name says "alike"."""

    def __init__(self, scalar: str, size: int, name: str) -> None:
        self.f = f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
        self.scalar, self.size = scalar, size
        self.what, self.alike = name.split("_")[0], name.endswith("alike")
        self.numbers = _get(f, "numbers")
        self.outer, self.n, self.m, self.inner = (_get(f, each) for each in ("outer", "n", "m", "inner"))
        x, out = _get(f, "x"), _get(f, "out")
        self.array, self.beyond = (x, out) if self.what == "pick" else (out, x)
        self.one = f.load(scalar, x, size) if self.what == "fill" else ""
        self.vector = with_lanes(_LANES, "i64")
        self.bad, self.several = f.variable("i64", "0"), f.variable(self.vector, literal(self.vector, 0))

    def numbered(self, place: str, lanes: int = 1) -> str:
        """The number at a place, or several; the first one instead of a wrong one, which is noted."""
        f, many = self.f, lanes > 1
        type_, bits, noted = (self.vector, f"<{lanes} x i1>", self.several) if many else ("i64", "i1", self.bad)
        which = f.load(type_, f.element(self.numbers, place, "i64"), 8)
        outside = f.op("icmp uge", type_, which, f.spread(type_, self.n) if many else self.n)
        noted.set(f.op("or", type_, noted.get(), f.cast("sext", bits, outside, type_)))
        return f.select(type_, outside, literal(type_, 0), which)

    def element(self, place: str, here: str) -> None:
        """An element in the array, and the one beyond that goes with it."""
        f, scalar, size = self.f, self.scalar, self.size
        other = f.element(self.beyond, here, scalar)
        if self.what == "pick":
            f.store(scalar, f.load(scalar, place, size), other, size)
            return
        value = self.one or f.load(scalar, other, size)
        if self.what == "add":
            word = "add" if scalar[0] == "i" else "fadd"
            value = f.op(word, scalar, f.load(scalar, place, size), value)
        f.store(scalar, value, place, size)

    def rows(self, first: str, end: str) -> None:
        """Lines that are rows: numbers are looked at several at a time."""
        f = self.f
        with f.counted(first, end) as o:
            row = f.op("mul", "i64", o, self.m)
            base = f.element(self.array, f.op("mul", "i64", o, self.n), self.scalar)
            whole = f.op("and", "i64", self.m, str(-_LANES))
            with f.counted("0", whole, str(_LANES)) as i:
                here = f.op("add", "i64", row, i)
                several = self.numbered(i if self.alike else here, _LANES)
                for lane in range(_LANES):
                    which = f.let(f"extractelement {self.vector} {several}, i64 {lane}")
                    self.element(f.element(base, which, self.scalar), f.op("add", "i64", here, str(lane)))
            with f.counted(whole, self.m) as i:
                here = f.op("add", "i64", row, i)
                self.element(f.element(base, self.numbered(i if self.alike else here), self.scalar), here)

    def columns(self, first: str, end: str, begin: str, after: str) -> None:
        """Lines that lie side by side: of some of the outer dimension, some of the inner one."""
        f = self.f
        with f.counted(first, end) as o, f.counted("0", self.m) as i:
            start = f.op("mul", "i64", f.op("add", "i64", f.op("mul", "i64", o, self.m), i), self.inner)
            base = f.op("mul", "i64", o, self.n)

            def line(which: str) -> str:
                return f.op("mul", "i64", f.op("add", "i64", base, which), self.inner)

            same = line(self.numbered(i)) if self.alike else ""
            with f.counted(begin, after) as k:
                here = f.op("add", "i64", start, k)
                there = f.op("add", "i64", same or line(self.numbered(here)), k)
                self.element(f.element(self.array, there, self.scalar), here)

    def chunk(self) -> Function:
        """Some of them."""
        f, outer, inner = self.f, self.outer, self.inner
        by_inner = f.op("icmp ne", "i64", _get(f, "by_inner"), "0")
        first, end = _part(f, f.let(f"select i1 {by_inner}, i64 {inner}, i64 {outer}"))
        pairs = (("0", first), (outer, end), (first, "0"), (end, inner))
        begin, after, k_begin, k_after = (f.let(f"select i1 {by_inner}, i64 {a}, i64 {b}") for a, b in pairs)
        rows = f.op("icmp eq", "i64", inner, "1")
        with f.when(rows):
            self.rows(begin, after)
        with f.when(f.op("xor", "i1", rows, "true")):
            self.columns(begin, after, k_begin, k_after)
        found = f.call(f"llvm.vector.reduce.or.v{_LANES}i64", "i64", f"{self.vector} {self.several.get()}")
        found = f.op("and", "i64", f.op("or", "i64", self.bad.get(), found), "1")
        f.let(f"atomicrmw add ptr {f.element('%context', str(_PLACE['bad']), 'i64')}, i64 {found} monotonic")
        f.end()
        return f


def _outside_chunk() -> Function:
    """How many of some numbers are of no element."""
    f = Function("outside_chunk", "void", "ptr context", "i64 number", linkage="internal")
    numbers, n, found = _get(f, "numbers"), _get(f, "n"), f.variable("i64", "0")
    type_ = with_lanes(4 * _LANES, "i64")
    first, end = _part(f, _get(f, "m"))
    now, bad, limit = f.variable("i64", first), f.variable(type_, literal(type_, 0)), f.spread(type_, n)
    with f.forever() as done:
        after = f.op("add", "i64", now.get(), str(4 * _LANES))
        f.leave_when(f.op("icmp sgt", "i64", after, end), done)
        there = f.load(type_, f.element(numbers, now.get(), "i64"), 8)
        beyond = f.cast("zext", with_lanes(4 * _LANES, "i1"), f.op("icmp uge", type_, there, limit), type_)
        bad.set(f.op("or", type_, bad.get(), beyond))
        now.set(after)
    found.set(f.call(f"llvm.vector.reduce.or.v{4 * _LANES}i64", "i64", f"{type_} {bad.get()}"))
    with f.counted(now.get(), end) as i:
        beyond = f.op("icmp uge", "i64", f.load("i64", f.element(numbers, i, "i64"), 8), n)
        found.set(f.op("or", "i64", found.get(), f.cast("zext", "i1", beyond, "i64")))
    f.let(f"atomicrmw add ptr {f.element('%context', str(_PLACE['bad']), 'i64')}, i64 {found.get()} monotonic")
    f.end()
    return f


def _run(name: str) -> Function:
    """All chunks; gives how many numbers are outside."""
    f = Function(name, "i64", "ptr context", "i64 chunks")
    several = f.op("icmp sgt", "i64", "%chunks", "1")
    with f.when(several):
        f.line(f"call void {_get(f, 'parallel')}(ptr @{name}_chunk, ptr %context, i64 %chunks)")
    with f.when(f.op("xor", "i1", several, "true")):
        f.line(f"call void @{name}_chunk(ptr %context, i64 0)")
    f.end(f"i64 {_get(f, 'bad')}")
    return f


_CHUNKS = {
    "sum": lambda scalar, size: _scan_chunk(scalar, "sum", "fadd"),
    "product": lambda scalar, size: _scan_chunk(scalar, "product", "fmul"),
    **{
        name: lambda scalar, size, name=name: _Elements(f"i{8 * size}", size, name).chunk()
        for name in ("pick", "pick_alike", "put", "fill", "add_whole")
    },
    **{name: lambda scalar, size, name=name: _Elements(scalar, size, name).chunk() for name in ("add", "add_alike")},
    "outside": lambda scalar, size: _outside_chunk(),
}


@functools.cache
def _function(name: str, size: int) -> Any:
    """A function for elements of so many bytes, compiled at first use; None where there is none."""
    try:
        engine = machine.compiled(module([_CHUNKS[name]("double" if size == 8 else "float", size), _run(name)]))
    except machine.NoCompiler:
        return None
    return machine.callable_at(machine.address(engine, name), ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)


def _called(name: str, x: Any, out: Any, numbers: Any, shape: tuple[int, ...], dim: int, back: bool = False) -> int:
    """How many numbers are outside; -1 where there is no function."""
    run = _function(name, x.itemsize)
    if run is None:
        return -1
    outer, n, inner = math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])
    m = n if numbers is None else numbers.size if name.endswith("alike") else numbers.shape[dim]
    by_inner = numbers is not None and outer < threads.number() and inner > 1
    whole = inner if by_inner else outer
    count = max(1, min(threads.number(), max(x.size, out.size) // GRAIN, whole))
    per = -(-whole // count)
    context = (ctypes.c_int64 * len(_FIELDS))(
        address(x), address(out), 0 if numbers is None else address(numbers), outer, n, m, inner, n - 1 if back else 0,
        -1 if back else 1, by_inner, per, 0, build.running().parallel,
    )  # fmt: skip
    return int(run(ctypes.addressof(context), -(-whole // per)))


def _scanned(name: str, back: bool) -> Any:
    def run(x: Any, dim: int) -> Any:
        if x.dtype.char not in "fd" or not x.size or not x.ndim:
            return NotImplemented
        x = np.ascontiguousarray(x)
        out = np.empty(x.shape, x.dtype)
        return out if _called(name, x, out, None, x.shape, dim, back) == 0 else NotImplemented

    return run


def _are_numbers(index: Any, shape: tuple[int, ...], dim: int) -> bool:
    """Are these the numbers of elements of all lines of such an array?"""
    if index.dtype is not _INT64 or not shape or len(shape) != index.ndim or not index.size:
        return False
    return index.shape[:dim] == shape[:dim] and index.shape[dim + 1 :] == shape[dim + 1 :]


def _gather(x: Any, index: Any, dim: int) -> Any:
    if index.size < FEW or x.itemsize not in SIZES or not _are_numbers(index, x.shape, dim):
        return NotImplemented
    x, index, out = np.ascontiguousarray(x), np.ascontiguousarray(index), np.empty(index.shape, x.dtype)
    return NotImplemented if _called("pick", x, out, index, x.shape, dim) else out


def _gather_backward(g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    if g.dtype.char not in "fd" or not _are_numbers(index, shape, dim):
        return NotImplemented
    g, index, out = np.ascontiguousarray(g), np.ascontiguousarray(index), np.zeros(shape, g.dtype)
    return NotImplemented if _called("add", g, out, index, shape, dim) else out


def _written(name: str, x: Any, index: Any, src: Any, dim: int, out: Any) -> Any:
    """Elements of `src` into a copy of `x`, or into `x` itself where that is `out`."""
    if index.size < FEW or not _are_numbers(index, x.shape, dim):
        return NotImplemented
    if out is not None and (out is not x or not x.flags.c_contiguous):
        return NotImplemented
    if _function(name, x.itemsize) is None or not in_range(index, x.shape[dim]):
        return NotImplemented
    index, target = np.ascontiguousarray(index), raw.clone(x, "C") if out is None else out
    _called(name, src, target, index, x.shape, dim)
    return target


def _scatter(x: Any, index: Any, src: Any, dim: int, *, out: Any = None) -> Any:
    if x.itemsize not in SIZES or src.dtype is not x.dtype or x.dtype.hasobject:
        return NotImplemented
    return _written("put", x, index, _corner(src, index), dim, out)


def _scatter_value(x: Any, index: Any, dim: int, value: Any, *, out: Any = None) -> Any:
    if x.dtype.char not in "fdl?" or type(value) not in (int, float, bool):
        return NotImplemented
    return _written("fill", x, index, np.full(1, value, x.dtype), dim, out)


def _scatter_add(x: Any, index: Any, src: Any, dim: int, *, out: Any = None) -> Any:
    if x.dtype.char not in "fdl" or src.dtype is not x.dtype:
        return NotImplemented
    return _written("add" if x.dtype.kind == "f" else "add_whole", x, index, _corner(src, index), dim, out)


def _corner(src: Any, index: Any) -> Any:
    """The part of `src` that goes with the index."""
    if src.shape != index.shape:
        src = src[tuple([slice(n) for n in index.shape])]
    return np.ascontiguousarray(src)


def picked(x: Any, index: Any, dim: int) -> Any:
    """`x.take(index, dim)`, where all lines have the same numbers, counted from the front."""
    if x.itemsize not in SIZES or not x.flags.c_contiguous or not x.size or index.dtype is not _INT64 or not index.size:
        return NotImplemented
    out = np.empty(x.shape[:dim] + index.shape + x.shape[dim + 1 :], x.dtype)
    bad = out.size < FEW or _called("pick_alike", x, out, np.ascontiguousarray(index), x.shape, dim)
    return NotImplemented if bad else out


def added(out: Any, index: Any, rows: Any, dim: int) -> bool:
    """Add to the lines of a contiguous array, all at the same places; False where that is not done, and nothing changed."""
    if out.dtype.char not in "fd" or rows.dtype is not out.dtype or rows.size < FEW or index.dtype is not _INT64:
        return False
    index = np.ascontiguousarray(index)
    if _function("add_alike", out.itemsize) is None or not in_range(index, out.shape[dim]):
        return False
    _called("add_alike", np.ascontiguousarray(rows), out, index, out.shape, dim)
    return True


def _all_below(index: Any, size: int) -> Any:
    run = _function("outside", 8) if index.dtype is _INT64 and index.flags.c_contiguous else None
    if run is None:
        return NotImplemented
    count = max(1, min(threads.number(), index.size // (2 * GRAIN)))
    per = -(-index.size // count)
    values = {"numbers": address(index), "n": size, "m": index.size, "per": per, "parallel": build.running().parallel}
    context = (ctypes.c_int64 * len(_FIELDS))(*[values.get(name, 0) for name in _FIELDS])
    return run(ctypes.addressof(context), -(-index.size // per)) == 0


def make(least: int) -> None:
    """Make all offers."""
    offer("all_below", "llvm", _all_below, least=least)
    for kernel, name, back in (
        ("cumsum", "sum", False),
        ("reverse_cumsum", "sum", True),
        ("cumprod", "product", False),
    ):
        offer(kernel, "llvm", _scanned(name, back), least=least)
    offer("gather", "llvm", _gather, least=least)
    offer("gather_backward", "llvm", _gather_backward, least=least)
    for kernel, write in (("scatter", _scatter), ("scatter_value", _scatter_value), ("scatter_add", _scatter_add)):
        offer(kernel, "llvm", write, writes=True, least=1)

"""Loops along one dimension of an array, seen as (outer, along, inner): running sums and products, and elements by their numbers.

Threads share the outer dimension, or the inner one where there is no outer: what is added up in one place is so by one thread, in order.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from .. import threads
from ..registry import offer
from . import build, machine
from .places import address
from .text import Function, Variable, literal, module, with_lanes

GRAIN = 1 << 14  # elements that are worth a thread
_TOGETHER = 8  # rows that are added up side by side: each waits for its last sum
_LANES = 8  # of a vector of float64
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


def _elements_chunk(scalar: str, size: int, name: str) -> Function:
    """Some of the elements by their numbers along a dimension: taken out ("pick"), or added up there ("add")."""
    f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    x, out, numbers = (_get(f, each) for each in ("x", "out", "numbers"))
    outer, n, m, inner = (_get(f, each) for each in ("outer", "n", "m", "inner"))
    by_inner = f.op("icmp ne", "i64", _get(f, "by_inner"), "0")
    first, end = _part(f, f.let(f"select i1 {by_inner}, i64 {inner}, i64 {outer}"))
    o_first, k_first = (f.let(f"select i1 {by_inner}, i64 {a}, i64 {b}") for a, b in (("0", first), (first, "0")))
    o_end, k_end = (f.let(f"select i1 {by_inner}, i64 {a}, i64 {b}") for a, b in ((outer, end), (end, inner)))
    bad = f.variable("i64", "0")

    def element(here: str, array: str, beyond: str, line: Any) -> None:
        """The element whose number stands `here`; `line` gives where in the array the line with a number is."""
        which = f.load("i64", f.element(numbers, here, "i64"), 8)
        inside = f.op("icmp ult", "i64", which, n)
        there = line(f.let(f"select i1 {inside}, i64 {which}, i64 0"))
        bad.set(f.op("or", "i64", bad.get(), f.cast("zext", "i1", f.op("xor", "i1", inside, "true"), "i64")))
        place, other = f.element(array, there, scalar), f.element(beyond, here, scalar)
        value = f.load(scalar, place if name == "pick" else other, size)
        if name == "pick":
            f.store(scalar, value, other, size)
        else:
            f.store(scalar, f.op("fadd", scalar, f.load(scalar, place, size), value), place, size)

    array, beyond = (x, out) if name == "pick" else (out, x)
    rows = f.op("icmp eq", "i64", inner, "1")
    with f.when(rows), f.counted(o_first, o_end) as o:
        row, base = f.op("mul", "i64", o, m), f.element(array, f.op("mul", "i64", o, n), scalar)
        with f.counted(row, f.op("add", "i64", row, m)) as here:
            element(here, base, beyond, lambda which: which)
    with f.when(f.op("xor", "i1", rows, "true")), f.counted(o_first, o_end) as o:
        base, row = f.op("mul", "i64", o, n), f.op("mul", "i64", o, m)
        with f.counted("0", m) as i:
            start = f.op("mul", "i64", f.op("add", "i64", row, i), inner)
            with f.counted(k_first, k_end) as k:

                def line(which: str, k: str = k) -> str:
                    return f.op("add", "i64", f.op("mul", "i64", f.op("add", "i64", base, which), inner), k)

                element(f.op("add", "i64", start, k), array, beyond, line)
    f.let(f"atomicrmw add ptr {f.element('%context', str(_PLACE['bad']), 'i64')}, i64 {bad.get()} monotonic")
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
    "pick": lambda scalar, size: _elements_chunk(f"i{8 * size}", size, "pick"),
    "add": lambda scalar, size: _elements_chunk(scalar, size, "add"),
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
    m = n if numbers is None else numbers.shape[dim]
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
    if x.itemsize not in (4, 8) or not _are_numbers(index, x.shape, dim):
        return NotImplemented
    x, index, out = np.ascontiguousarray(x), np.ascontiguousarray(index), np.empty(index.shape, x.dtype)
    return NotImplemented if _called("pick", x, out, index, x.shape, dim) else out


def _gather_backward(g: Any, index: Any, shape: tuple[int, ...], dim: int) -> Any:
    if g.dtype.char not in "fd" or not _are_numbers(index, shape, dim):
        return NotImplemented
    g, index, out = np.ascontiguousarray(g), np.ascontiguousarray(index), np.zeros(shape, g.dtype)
    return NotImplemented if _called("add", g, out, index, shape, dim) else out


def _scatter_add(x: Any, index: Any, src: Any, dim: int) -> Any:
    if x.dtype.char not in "fd" or src.dtype is not x.dtype or not _are_numbers(index, x.shape, dim):
        return NotImplemented
    src, index = np.ascontiguousarray(src[tuple([slice(n) for n in index.shape])]), np.ascontiguousarray(index)
    out = np.array(x, order="C")
    return NotImplemented if _called("add", src, out, index, x.shape, dim) else out


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
    offer("scatter_add", "llvm", _scatter_add, least=least)

"""The first few numbers of long rows by a heap, as PyTorch finds them: of equal numbers those that `std::partial_sort` leaves in front.

A row is read once, a vector at a time, and compared with the top of the heap: mostly none of the vector is better. What stands in the heap are the
elements of kernels/portable/indexing/equals.py, a rank above a place, so that numbers of 32 bits are taken.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .. import threads
from ..portable.indexing.equals import PARTIAL
from ..registry import offer, raw
from . import build, equals, machine
from .places import address
from .products.calls import F32
from .selecting import GRAIN, MOST, Keys, every_chunk, field
from .text import Function, literal, module, with_lanes

_Context = ctypes.c_int64 * 8


class _Row:
    """A row of numbers, and the heap of the best of them."""

    def __init__(self, f: Function, keys: Keys, line: str, heap: str, k: str) -> None:
        self.f, self.keys, self.line, self.heap, self.k = f, keys, line, heap, k

    def rank(self, i: str) -> str:
        """Of a number: the smaller, the better."""
        f = self.f
        key = self.keys.of(f.load("float", f.element(self.line, i, "float"), 4), 1)
        return f.cast("sext", "i32", f.op("xor", "i32", key, "-1"), "i64")

    def element(self, i: str) -> str:
        """A rank above a place."""
        return self.f.op("or", "i64", self.f.op("shl", "i64", self.rank(i), "32"), i)

    def sink(self, hole: str, value: str) -> None:
        """A hole of the heap is filled, with a value in the end."""
        given = [f"i64 {each}" for each in (hole, self.k, value)]
        self.f.call("adjust", "void", f"ptr {self.heap}", "i64 0", *given)

    def make(self) -> None:
        """The first numbers are a heap."""
        f = self.f
        with f.counted("0", self.k) as i:
            f.store("i64", self.element(i), f.element(self.heap, i, "i64"))
        parents = f.op("sdiv", "i64", self.k, "2")
        with f.counted("0", parents) as i:
            parent = f.op("sub", "i64", f.op("sub", "i64", parents, "1"), i)
            self.sink(parent, f.load("i64", f.element(self.heap, parent, "i64")))

    def top(self) -> str:
        """The rank of the worst."""
        return self.f.op("ashr", "i64", self.f.load("i64", self.heap), "32")

    def look_at(self, i: str) -> None:
        """A number takes the place of the worst, if it is better."""
        with self.f.when(self.f.op("icmp slt", "i64", self.rank(i), self.top())):
            self.sink("0", self.element(i))


def _chunk(name: str, lanes: int, largest: bool) -> Function:
    """Some rows."""
    f = Function(f"{name}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    keys, many = Keys(f, "float", largest), with_lanes(lanes, "i32")
    x, places, n, k, per = (field(f, word) for word in ("x", "numbers", "n", "k", "per"))
    first = f.op("mul", "i64", "%number", per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {field(f, 'rows')}")
    rest = f.op("sub", "i64", n, k)
    whole = f.op("add", "i64", k, f.op("sub", "i64", rest, f.op("srem", "i64", rest, str(lanes))))

    with f.counted(first, end) as row:
        line = f.element(x, f.op("mul", "i64", row, n), "float")
        heap = f.element(places, f.op("mul", "i64", row, k), "i64")

        found = _Row(f, keys, line, heap, k)
        found.make()
        with f.counted(k, whole, str(lanes)) as i:
            some = f.op(
                "xor",
                many,
                keys.of(f.load(with_lanes(lanes, "float"), f.element(line, i, "float"), 4), lanes),
                literal(many, -1),
            )
            top = f.cast("trunc", "i64", found.top(), "i32")
            better = f.op("icmp slt", many, some, f.spread(many, top))
            mask = f.cast("bitcast", f"<{lanes} x i1>", better, f"i{lanes}")
            with (
                f.when(f.op("icmp ne", f"i{lanes}", mask, "0"), rarely=True),
                f.counted(i, f.op("add", "i64", i, str(lanes))) as j,
            ):
                found.look_at(j)
        with f.counted(whole, n) as i:
            found.look_at(i)
        f.call("sort_heap", "void", f"ptr {heap}", "i64 0", f"i64 {k}")
        values, begin = field(f, "values"), f.op("mul", "i64", row, k)
        with f.counted("0", k) as i:
            entry = f.element(heap, i, "i64")
            place = f.op("and", "i64", f.load("i64", entry), str(0xFFFFFFFF))
            f.store("i64", place, entry)
            target = f.element(values, f.op("add", "i64", begin, i), "float")
            f.store("float", f.load("float", f.element(line, place, "float"), 4), target, 4)
    f.end()
    return f


@functools.cache
def _functions() -> Any:
    """Those for the smallest and for the largest, compiled at first use; None where there are none."""
    names = ("heap_smallest", "heap_largest")
    try:
        chunks = [_chunk(name, machine.processor()[1] // 4, name == names[1]) for name in names]
        parts = [*equals.heap_functions(), *chunks, *map(every_chunk, names)]
        engine = machine.compiled(module(parts))
    except machine.NoCompiler:
        return None
    return [machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p) for name in names]


def _topk(x: Any, k: int, dim: int, largest: bool) -> Any:
    if x.dtype is not F32 or not x.ndim or not 0 < k <= MOST or k * PARTIAL > x.shape[dim] or x.shape[dim] >= 1 << 31:
        return NotImplemented
    if dim != x.ndim - 1:  # laid in rows, and back
        found = _topk(raw.clone(x.swapaxes(dim, -1), "C"), k, x.ndim - 1, largest)
        return (
            found
            if found is NotImplemented
            else tuple([np.ascontiguousarray(each.swapaxes(dim, -1)) for each in found])
        )
    on = _functions() if x.flags.c_contiguous else None
    if on is None:
        return NotImplemented
    n, shape = x.shape[-1], (*x.shape[:-1], k)
    values, places, rows = np.empty(shape, x.dtype), np.empty(shape, np.int64), x.size // n
    shared = x.size >= 2 * GRAIN and threads.number() > 1
    count = min(4 * threads.number(), x.size // GRAIN) if shared else 1
    parallel = build.running().parallel if shared else 0
    context = _Context(address(x), address(values), address(places), rows, n, k, max(1, -(-rows // count)), parallel)
    on[bool(largest)](context)
    return values, places


def make(least: int) -> None:
    """Make the offer."""
    offer("topk", "llvm", _topk, least=1)

"""The largest (or smallest) few numbers of every row, in order, and permutations: loops that NumPy has no function for.

A row is read once, a vector at a time, and compared with the last number that is kept: mostly none of the vector is better. Numbers are
compared as integers in the same order; NaN is greater than every number, zeros are equal, and of equal numbers the first comes first.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .. import threads
from ..registry import offer, raw
from . import build, machine
from .places import address
from .products.calls import F32, F64
from .text import Function, literal, module, with_lanes

MOST = 256  # numbers that are kept of a row
GRAIN = 1 << 14  # elements that are worth a thread
_FIELDS = ("x", "values", "numbers", "rows", "n", "k", "per", "parallel")
_POINTERS = ("x", "values", "numbers", "parallel")
_Context = ctypes.c_int64 * len(_FIELDS)


def field(f: Function, name: str) -> str:
    """What the context says."""
    place = f.element("%context", str(_FIELDS.index(name)), "i64")
    return f.load("ptr" if name in _POINTERS else "i64", place)


class Keys:
    """Numbers as integers in the same order (the other way round for the smallest)."""

    def __init__(self, f: Function, scalar: str, largest: bool) -> None:
        self.f, self.scalar, self.largest = f, scalar, largest
        self.whole, self.bits = ("i64", 64) if scalar == "double" else ("i32", 32)

    def of(self, value: str, lanes: int) -> str:
        """The keys of a vector, or of one number."""
        f, (type_, whole) = self.f, (self.scalar, self.whole)
        if lanes > 1:
            type_, whole = with_lanes(lanes, type_), with_lanes(lanes, whole)
        value = f.op("fadd", type_, value, literal(type_, 0.0))  # -0 becomes 0
        bits = f.cast("bitcast", type_, value, whole)
        sign = f.op("ashr", whole, bits, literal(whole, self.bits - 1))
        key = f.op("xor", whole, bits, f.op("and", whole, sign, literal(whole, (1 << self.bits - 1) - 1)))
        none = f.op("fcmp uno", type_, value, value)
        key = f.select(whole, none, literal(whole, (1 << self.bits - 1) - 1), key)
        return key if self.largest else f.op("xor", whole, key, literal(whole, -1))


def _insert(f: Function, keys: Keys, key: str, number: str, count: str, kept: str, places: str) -> None:
    """Put a key where it belongs among the first `count`: what is smaller moves up by one."""
    at = f.variable("i64", count)
    with f.forever() as found:
        now = at.get()
        f.leave_when(f.op("icmp eq", "i64", now, "0"), found)
        before = f.op("sub", "i64", now, "1")
        other = f.load(keys.whole, f.element(kept, before, keys.whole))
        f.leave_when(f.op("icmp sge", keys.whole, other, key), found)
        f.store(keys.whole, other, f.element(kept, now, keys.whole))
        f.store("i64", f.load("i64", f.element(places, before, "i64")), f.element(places, now, "i64"))
        at.set(before)
    f.store(keys.whole, key, f.element(kept, at.get(), keys.whole))
    f.store("i64", number, f.element(places, at.get(), "i64"))


def _chunk(scalar: str, lanes: int, largest: bool) -> Function:
    """Some rows."""
    name = "largest_chunk" if largest else "smallest_chunk"
    f = Function(name, "void", "ptr context", "i64 number", linkage="internal")
    size, keys = 8 if scalar == "double" else 4, Keys(f, scalar, largest)
    kept, places = f.reserve(keys.whole, MOST + 1), f.reserve("i64", MOST + 1)
    x, values, numbers, n, k, per = (field(f, word) for word in ("x", "values", "numbers", "n", "k", "per"))
    first = f.op("mul", "i64", "%number", per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {field(f, 'rows')}")
    last = f.op("sub", "i64", k, "1")
    rest = f.op("sub", "i64", n, k)
    whole = f.op("add", "i64", k, f.op("sub", "i64", rest, f.op("srem", "i64", rest, str(lanes))))

    def worst() -> str:
        return f.load(keys.whole, f.element(kept, last, keys.whole))

    with f.counted(first, end) as row:
        line = f.element(x, f.op("mul", "i64", row, n), scalar)
        with f.counted("0", k) as i:
            key = keys.of(f.load(scalar, f.element(line, i, scalar), size), 1)
            _insert(f, keys, key, i, i, kept, places)

        def one(i: str, line: str = line) -> None:
            key = keys.of(f.load(scalar, f.element(line, i, scalar), size), 1)
            with f.when(f.op("icmp sgt", keys.whole, key, worst())):
                _insert(f, keys, key, i, last, kept, places)

        with f.counted(k, whole, str(lanes)) as i:
            some = keys.of(f.load(with_lanes(lanes, scalar), f.element(line, i, scalar), size), lanes)
            type_ = with_lanes(lanes, keys.whole)
            better = f.op("icmp sgt", type_, some, f.spread(type_, worst()))
            mask = f.cast("bitcast", f"<{lanes} x i1>", better, f"i{lanes}")
            with (
                f.when(f.op("icmp ne", f"i{lanes}", mask, "0"), rarely=True),
                f.counted(i, f.op("add", "i64", i, str(lanes))) as j,
            ):
                one(j)
        with f.counted(whole, n) as i:
            one(i)
        begin = f.op("mul", "i64", row, k)
        with f.counted("0", k) as i:
            place, at = f.load("i64", f.element(places, i, "i64")), f.op("add", "i64", begin, i)
            f.store("i64", place, f.element(numbers, at, "i64"), 8)
            f.store(scalar, f.load(scalar, f.element(line, place, scalar), size), f.element(values, at, scalar), size)
    f.end()
    return f


def every_chunk(name: str) -> Function:
    """All rows, in chunks that threads share."""
    f = Function(name, "void", "ptr context")
    per, rows = field(f, "per"), field(f, "rows")
    chunks = f.op("sdiv", "i64", f.op("add", "i64", rows, f.op("sub", "i64", per, "1")), per)
    several = f.op("icmp sgt", "i64", chunks, "1")
    with f.when(several):
        f.line(f"call void {field(f, 'parallel')}(ptr @{name}_chunk, ptr %context, i64 {chunks})")
    with f.when(f.op("xor", "i1", several, "true")):
        f.line(f"call void @{name}_chunk(ptr %context, i64 0)")
    f.end()
    return f


@functools.cache
def _functions(dtype: Any) -> Any:
    """Those for the smallest and for the largest, compiled at first use; None where there are none."""
    if dtype is not F32 and dtype is not F64:
        return None
    scalar, size = ("double", 8) if dtype is F64 else ("float", 4)
    try:
        lanes = machine.processor()[1] // size
        parts = [_chunk(scalar, lanes, largest) for largest in (False, True)]
        engine = machine.compiled(module([*parts, every_chunk("smallest"), every_chunk("largest")]))
    except machine.NoCompiler:
        return None
    return [
        machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p) for name in ("smallest", "largest")
    ]


def _topk(x: Any, k: int, dim: int, largest: bool) -> Any:
    if not x.ndim or not 0 < k <= MOST:
        return NotImplemented
    if dim != x.ndim - 1:  # laid in rows, and back
        found = (
            _topk(raw.clone(x.swapaxes(dim, -1), "C"), k, x.ndim - 1, largest) if x.size >= GRAIN else NotImplemented
        )
        return (
            found
            if found is NotImplemented
            else tuple([np.ascontiguousarray(each.swapaxes(dim, -1)) for each in found])
        )
    if not x.flags.c_contiguous:
        return NotImplemented
    on, n = _functions(x.dtype), x.shape[-1]
    if on is None or k * 8 > max(n, 64):
        return NotImplemented
    shape = (*x.shape[:-1], k)
    values, numbers, rows = np.empty(shape, x.dtype), np.empty(shape, np.int64), x.size // n
    shared = x.size >= 2 * GRAIN and threads.number() > 1  # (to ask for that takes as long as a small array)
    count = min(4 * threads.number(), x.size // GRAIN) if shared else 1
    parallel = build.running().parallel if shared else 0
    context = _Context(address(x), address(values), address(numbers), rows, n, k, max(1, -(-rows // count)), parallel)
    on[bool(largest)](context)
    return values, numbers


# Permutations ---------------------------------------------------------------------------------------------


def _exchanges() -> Function:
    """Every number changes its place with one of those from it on."""
    f = Function("exchanges", "void", "ptr numbers", "ptr targets", "i64 n")
    with f.counted("0", "%n") as i:
        one = f.element("%numbers", i, "i64")
        two = f.element("%numbers", f.load("i64", f.element("%targets", i, "i64"), 8), "i64")
        first, second = f.load("i64", one, 8), f.load("i64", two, 8)
        f.store("i64", second, one, 8)
        f.store("i64", first, two, 8)
    f.end()
    return f


@functools.cache
def _exchange() -> Any:
    try:
        place = machine.address(machine.compiled(module([_exchanges()])), "exchanges")
    except machine.NoCompiler:
        return None
    return machine.callable_at(place, None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


def _swapped(targets: Any) -> Any:
    run = _exchange()
    if run is None:
        return NotImplemented
    numbers = np.arange(targets.size)
    run(address(numbers), address(targets), targets.size)
    return numbers


def make(least: int) -> None:
    """Make all offers."""
    offer("topk_stable", "llvm", _topk, least=1)
    offer("swapped", "llvm", _swapped, least=1)

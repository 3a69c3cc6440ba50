"""The order of equal elements, compiled: the steps of kernels/portable/indexing/equals.py, which says why they are taken."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ..portable.indexing.equals import PARTIAL, SHORT, depth
from ..registry import offer
from . import machine
from .places import address
from .text import Function, module


class _Steps(Function):
    """A function that works on elements `e`."""

    def __init__(self, name: str, result: str, *parameters: str, linkage: str = "internal") -> None:
        super().__init__(name, result, "ptr e", *parameters, linkage=linkage)

    def plus(self, a: str, b: str) -> str:
        return self.op("add", "i64", a, b)

    def minus(self, a: str, b: str) -> str:
        return self.op("sub", "i64", a, b)

    def is_(self, word: str, a: str, b: str) -> str:
        return self.op(f"icmp {word}", "i64", a, b)

    def get(self, i: str) -> str:
        return self.load("i64", self.element("%e", i, "i64"))

    def put(self, i: str, value: str) -> None:
        self.store("i64", value, self.element("%e", i, "i64"))

    def exchange(self, i: str, j: str) -> None:
        one, two = self.get(i), self.get(j)
        self.put(i, two)
        self.put(j, one)

    def less(self, a: str, b: str) -> str:
        """Is the rank of one element smaller than that of the other?"""
        return self.is_("slt", self.op("ashr", "i64", a, "32"), self.op("ashr", "i64", b, "32"))

    def run(self, name: str, *values: str, result: str = "void") -> str:
        return self.call(name, result, "ptr %e", *[f"i64 {value}" for value in values])


def _partition() -> Function:
    f = _Steps("partition", "i64", "i64 first", "i64 last")
    size = f.minus("%last", "%first")
    places = [f.plus("%first", "1"), f.plus("%first", f.op("sdiv", "i64", size, "2")), f.minus("%last", "1")]
    low, middle, high = (f.get(place) for place in places)
    to_low, to_middle, to_high = places
    low_high, middle_high = f.less(low, high), f.less(middle, high)
    above = f.select("i64", middle_high, to_middle, f.select("i64", low_high, to_high, to_low))
    below = f.select("i64", low_high, to_low, f.select("i64", middle_high, to_high, to_middle))
    f.exchange("%first", f.select("i64", f.less(low, middle), above, below))
    pivot = f.get("%first")
    up, down = f.variable("i64", to_low), f.variable("i64", "%last")
    with f.forever() as met:
        with f.forever() as found:
            f.leave_when(f.op("xor", "i1", f.less(f.get(up.get()), pivot), "true"), found)
            up.set(f.plus(up.get(), "1"))
        with f.forever() as found:
            down.set(f.minus(down.get(), "1"))
            f.leave_when(f.op("xor", "i1", f.less(pivot, f.get(down.get())), "true"), found)
        f.leave_when(f.is_("sge", up.get(), down.get()), met)
        f.exchange(up.get(), down.get())
        up.set(f.plus(up.get(), "1"))
    f.end(f"i64 {up.get()}")
    return f


def _insertion() -> Function:
    f = _Steps("insertion", "void", "i64 first", "i64 last")
    with f.counted(f.plus("%first", "1"), "%last") as i:
        value, at = f.get(i), f.variable("i64", i)
        with f.forever() as found:
            f.leave_when(f.is_("sle", at.get(), "%first"), found)
            before = f.minus(at.get(), "1")
            other = f.get(before)
            f.leave_when(f.op("xor", "i1", f.less(value, other), "true"), found)
            f.put(at.get(), other)
            at.set(before)
        f.put(at.get(), value)
    f.end()
    return f


def _adjust() -> Function:
    f = _Steps("adjust", "void", "i64 first", "i64 top", "i64 size", "i64 value")
    hole = f.variable("i64", "%top")

    def fill(place: str) -> None:
        """The hole moves there, what was there to where the hole was."""
        f.put(f.plus("%first", hole.get()), f.get(f.plus("%first", place)))
        hole.set(place)

    half = f.op("sdiv", "i64", f.minus("%size", "1"), "2")
    with f.forever() as bottom:
        f.leave_when(f.is_("sge", hole.get(), half), bottom)
        right = f.op("mul", "i64", f.plus(hole.get(), "1"), "2")
        left = f.minus(right, "1")
        smaller = f.less(f.get(f.plus("%first", right)), f.get(f.plus("%first", left)))
        fill(f.select("i64", smaller, left, right))
    even = f.is_("eq", f.op("and", "i64", "%size", "1"), "0")
    last = f.is_("eq", hole.get(), f.op("sdiv", "i64", f.minus("%size", "2"), "2"))
    with f.when(f.op("and", "i1", even, last)):
        fill(f.plus(f.op("mul", "i64", hole.get(), "2"), "1"))
    with f.forever() as risen:
        f.leave_when(f.is_("sle", hole.get(), "%top"), risen)
        parent = f.op("sdiv", "i64", f.minus(hole.get(), "1"), "2")
        f.leave_when(f.op("xor", "i1", f.less(f.get(f.plus("%first", parent)), "%value"), "true"), risen)
        fill(parent)
    f.put(f.plus("%first", hole.get()), "%value")
    f.end()
    return f


def _heap_select() -> Function:
    f = _Steps("heap_select", "void", "i64 first", "i64 middle", "i64 last")
    size = f.minus("%middle", "%first")
    parents = f.op("sdiv", "i64", size, "2")
    with f.counted("0", parents) as i:
        parent = f.minus(f.minus(parents, "1"), i)
        f.run("adjust", "%first", parent, size, f.get(f.plus("%first", parent)))
    with f.counted("%middle", "%last") as i:
        value, top = f.get(i), f.get("%first")
        with f.when(f.less(value, top)):
            f.put(i, top)
            f.run("adjust", "%first", "0", size, value)
    f.end()
    return f


def _sort_heap() -> Function:
    f = _Steps("sort_heap", "void", "i64 first", "i64 last")
    with f.counted("1", f.minus("%last", "%first")) as i:
        end = f.minus("%last", i)
        value = f.get(end)
        f.put(end, f.get("%first"))
        f.run("adjust", "%first", "0", f.minus(end, "%first"), value)
    f.end()
    return f


def _cut() -> Function:
    """All ranges are cut until they are short."""
    f = _Steps("cut", "void", "i64 first", "i64 last", "i64 depth")
    end, left = f.variable("i64", "%last"), f.variable("i64", "%depth")
    with f.forever() as short:
        f.leave_when(f.is_("sle", f.minus(end.get(), "%first"), str(SHORT)), short)
        deep = f.is_("eq", left.get(), "0")
        with f.when(deep, rarely=True):
            f.run("heap_select", "%first", end.get(), end.get())
            f.run("sort_heap", "%first", end.get())
        f.leave_when(deep, short)
        left.set(f.minus(left.get(), "1"))
        cut = f.run("partition", "%first", end.get(), result="i64")
        f.run("cut", cut, end.get(), left.get())
        end.set(cut)
    f.end()
    return f


def _nth() -> Function:
    f = _Steps("nth", "void", "i64 nth", "i64 n", "i64 depth")
    first, last, left = f.variable("i64", "0"), f.variable("i64", "%n"), f.variable("i64", "%depth")
    done = f.variable("i1", "false")
    with f.forever() as short:
        f.leave_when(f.is_("sle", f.minus(last.get(), first.get()), "3"), short)
        deep = f.is_("eq", left.get(), "0")
        with f.when(deep, rarely=True):
            f.run("heap_select", first.get(), f.plus("%nth", "1"), last.get())
            f.exchange(first.get(), "%nth")
            done.set("true")
        f.leave_when(deep, short)
        left.set(f.minus(left.get(), "1"))
        cut = f.run("partition", first.get(), last.get(), result="i64")
        before = f.is_("sle", cut, "%nth")
        first.set(f.select("i64", before, cut, first.get()))
        last.set(f.select("i64", before, last.get(), cut))
    with f.when(f.op("xor", "i1", done.get(), "true")):
        f.run("insertion", first.get(), last.get())
    f.end()
    return f


def _rows(name: str, *numbers: str) -> _Steps:
    """A function that goes over rows of n elements; it is written from inside its loop on."""
    return _Steps(name, "void", "i64 rows", "i64 n", *[f"i64 {each}" for each in numbers], linkage="")


def _sorted(f: _Steps, row: str, n: str, depth: str) -> None:
    for name, *values in (("cut", "0", n, depth), ("insertion", "0", n)):
        f.call(name, "void", f"ptr {row}", *[f"i64 {value}" for value in values])


def _in_order() -> Function:
    f = _rows("in_order", "depth")
    with f.counted("0", "%rows") as i:
        _sorted(f, f.element("%e", f.op("mul", "i64", i, "%n"), "i64"), "%n", "%depth")
    f.end()
    return f


def _by_heap() -> Function:
    f = _rows("by_heap", "k")
    with f.counted("0", "%rows") as i:
        row = f.element("%e", f.op("mul", "i64", i, "%n"), "i64")
        f.call("heap_select", "void", f"ptr {row}", "i64 0", "i64 %k", "i64 %n")
        f.call("sort_heap", "void", f"ptr {row}", "i64 0", "i64 %k")
    f.end()
    return f


def _by_cuts() -> Function:
    """The first k + 1 in front; the first `ordered` of them in order."""
    f = _rows("by_cuts", "k", "depth", "ordered", "depth_of_those")
    with f.counted("0", "%rows") as i:
        row = f.element("%e", f.op("mul", "i64", i, "%n"), "i64")
        f.call("nth", "void", f"ptr {row}", "i64 %k", "i64 %n", "i64 %depth")
        _sorted(f, row, "%ordered", "%depth_of_those")
    f.end()
    return f


def heap_functions() -> list[Function]:
    """What a heap of elements is made and taken apart by: `adjust` and `sort_heap`."""
    return [_adjust(), _sort_heap()]


@functools.cache
def _functions() -> Any:
    """Sort, the first by a heap, the first by cutting ranges; None where nothing is compiled."""
    parts = [_partition(), _insertion(), _adjust(), _heap_select(), _sort_heap(), _cut(), _nth()]
    try:
        engine = machine.compiled(module([*parts, _in_order(), _by_heap(), _by_cuts()]))
    except machine.NoCompiler:
        return None
    return [
        machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p, *[ctypes.c_int64] * count)
        for name, count in (("in_order", 3), ("by_heap", 3), ("by_cuts", 6))
    ]


def _exchanged(elements: Any, k: int, in_order: bool) -> Any:
    on, n = _functions(), elements.shape[-1]
    if on is None or not elements.size:
        return NotImplemented
    elements = np.array(elements, order="C")
    place, rows = address(elements), elements.size // n
    if k == 0:
        on[0](place, rows, n, depth(n))
    elif k * PARTIAL <= n:
        on[1](place, rows, n, k)
    else:
        ordered = k - 1 if in_order else 0
        on[2](place, rows, n, k - 1, depth(n), ordered, depth(ordered))
    return elements


def make(least: int) -> None:
    """Make the offer."""
    offer("exchanged", "llvm", _exchanged, least=1)

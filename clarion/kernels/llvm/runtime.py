"""The loops around compiled bodies, one for all kernels: they meet NumPy's strides, threads, and the ends of arrays.

A kernel's `plan` (plan.py) says what its loop needs to know.
"""

from __future__ import annotations

import ctypes
import functools
import os

from . import (
    api,
    columns,
    direct,
    drawing,
    gathering,
    holding,
    joins,
    layouts,
    machine,
    pool,
    small_draws,
    small_extremes,
    small_frames,
    small_lines,
    small_lists,
    small_moves,
    small_pairs,
    small_products,
    small_sorts,
    small_totals,
    small_windows,
    strided,
    taking,
    views,
    writes,
)
from .plan import GRAIN, INPUTS, LANES, MOST, OPERANDS, SIZES, at, field
from .text import Function, module

BLOCK = 512  # elements that are brought together at a time where an operand is not adjacent
_FLOATS = {"f": "float", "d": "double"}  # NumPy's letters
_ROOM = 128  # bytes of one vector, at most


def _staged() -> Function:
    """Up to `BLOCK` elements that are not adjacent, or fill no vector: brought together, computed, and put back."""
    f = Function("staged", "void", "ptr plan", "ptr args", "ptr steps", "i64 first", "i64 count", linkage="internal")
    room = f.reserve("i8", MOST * BLOCK * 8)
    places, strides = f.reserve("ptr", MOST), f.reserve("i64", MOST)
    lanes, inputs, operands = (field(f, "%plan", k) for k in (LANES, INPUTS, OPERANDS))
    vectors = f.op("sdiv", "i64", f.op("add", "i64", "%count", f.op("sub", "i64", lanes, "1")), lanes)
    whole = f.op("mul", "i64", vectors, lanes)
    missing = f.op("sub", "i64", whole, "%count")
    with f.counted("0", operands) as k:
        size = at(f, "%plan", f.op("add", "i64", k, str(SIZES)))
        step = at(f, "%steps", k)
        near = f.offset(room, f.op("mul", "i64", k, str(BLOCK * 8)))
        far = f.offset(f.load("ptr", f.element("%args", k, "ptr")), f.op("mul", "i64", "%first", step))
        f.store("ptr", near, f.element(places, k, "ptr"))
        f.store("i64", f.op("mul", "i64", lanes, size), f.element(strides, k, "i64"))
        with f.when(f.op("icmp slt", "i64", k, inputs)):
            f.line(f"call void @gather(ptr {near}, ptr {far}, i64 {step}, i64 %count, i64 {size})")
            # What fills the last vector is its last element again: no new values, no new errors.
            rest = f.offset(near, f.op("mul", "i64", "%count", size))
            last = f.offset(rest, f.op("sub", "i64", "0", size))
            f.line(f"call void @gather(ptr {rest}, ptr {last}, i64 0, i64 {missing}, i64 {size})")
    f.line(f"call void {_body(f)}(i64 {vectors}, ptr {places}, ptr {strides})")
    with f.counted(inputs, operands) as k:
        size = at(f, "%plan", f.op("add", "i64", k, str(SIZES)))
        step = at(f, "%steps", k)
        near = f.offset(room, f.op("mul", "i64", k, str(BLOCK * 8)))
        far = f.offset(f.load("ptr", f.element("%args", k, "ptr")), f.op("mul", "i64", "%first", step))
        f.line(f"call void @scatter(ptr {near}, ptr {far}, i64 {step}, i64 %count, i64 {size})")
    f.end()
    return f


def _body(f: Function) -> str:
    return f.load("ptr", "%plan")


def _range() -> Function:
    """The elements from `first` to below `end`."""
    f = Function("range", "void", "ptr plan", "ptr args", "ptr steps", "i64 first", "i64 end")
    places, strides = f.reserve("ptr", MOST), f.reserve("i64", MOST)
    numbers = f.reserve("i8", MOST * _ROOM)  # a number in all lanes, for each operand that does not move
    lanes, inputs, operands = (field(f, "%plan", k) for k in (LANES, INPUTS, OPERANDS))
    count = f.op("sub", "i64", "%end", "%first")
    direct = f.variable("i1", "true")
    with f.counted("0", operands) as k:
        size = at(f, "%plan", f.op("add", "i64", k, str(SIZES)))
        step = at(f, "%steps", k)
        far = f.offset(f.load("ptr", f.element("%args", k, "ptr")), f.op("mul", "i64", "%first", step))
        f.store("ptr", far, f.element(places, k, "ptr"))
        f.store("i64", f.op("mul", "i64", lanes, size), f.element(strides, k, "i64"))
        adjacent = f.op("icmp eq", "i64", step, size)
        still = f.op("and", "i1", f.op("icmp eq", "i64", step, "0"), f.op("icmp slt", "i64", k, inputs))
        direct.set(f.op("and", "i1", direct.get(), f.op("or", "i1", adjacent, still)))
        with f.when(still):
            near = f.offset(numbers, f.op("mul", "i64", k, str(_ROOM)))
            f.line(f"call void @gather(ptr {near}, ptr {far}, i64 0, i64 {lanes}, i64 {size})")
            f.store("ptr", near, f.element(places, k, "ptr"))
            f.store("i64", "0", f.element(strides, k, "i64"))
    start = f.variable("i64", "%first")
    with f.when(direct.get()):
        vectors = f.op("sdiv", "i64", count, lanes)
        with f.when(f.op("icmp sgt", "i64", vectors, "0")):
            f.line(f"call void {_body(f)}(i64 {vectors}, ptr {places}, ptr {strides})")
        start.set(f.op("add", "i64", "%first", f.op("mul", "i64", vectors, lanes)))
    with f.counted(start.get(), "%end", str(BLOCK)) as i:
        left = f.op("sub", "i64", "%end", i)
        some = f.call("llvm.smin.i64", "i64", f"i64 {left}", f"i64 {BLOCK}")
        f.line(f"call void @staged(ptr %plan, ptr %args, ptr %steps, i64 {i}, i64 {some})")
    f.end()
    return f


# What the threads of a loop share: plan, arguments, steps, length, and the size of a chunk.
_PLAN, _ARGS, _STEPS, _LENGTH, _CHUNK, _INNER = range(6)


def _shared(f: Function, values: tuple[str, ...]) -> str:
    context = f.reserve("i64", len(values))
    for k, value in enumerate(values):
        f.store("ptr" if k <= _STEPS else "i64", value, f.element(context, str(k), "i64"))
    return context


def _from_shared(f: Function) -> tuple[str, ...]:
    """Plan, arguments, steps, and the part of the loop that a chunk is."""
    plan, args, steps = (f.load("ptr", f.element("%context", str(k), "i64")) for k in (_PLAN, _ARGS, _STEPS))
    length, chunk = field(f, "%context", _LENGTH), field(f, "%context", _CHUNK)
    first = f.op("mul", "i64", "%number", chunk)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, chunk)}", f"i64 {length}")
    return plan, args, steps, first, end


def _range_chunk() -> Function:
    f = Function("range_chunk", "void", "ptr context", "i64 number", linkage="internal")
    plan, args, steps, first, end = _from_shared(f)
    f.line(f"call void @range(ptr {plan}, ptr {args}, ptr {steps}, i64 {first}, i64 {end})")
    f.end()
    return f


def _elements() -> Function:
    """NumPy's loop of an elementwise function."""
    f = Function("elements", "void", "ptr args", "ptr dimensions", "ptr steps", "ptr plan")
    n = f.load("i64", "%dimensions")
    shared, size, count = pool.chunks(f, n, field(f, "%plan", GRAIN), 64)
    with f.when(shared):
        context = _shared(f, ("%plan", "%args", "%steps", n, size))
        f.line(f"call void @parallel(ptr @range_chunk, ptr {context}, i64 {count})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line(f"call void @range(ptr %plan, ptr %args, ptr %steps, i64 0, i64 {n})")
    f.end()
    return f


def _rows_chunk() -> Function:
    f = Function("rows_chunk", "void", "ptr context", "i64 number", linkage="internal")
    plan, args, steps, first, end = _from_shared(f)
    places = f.reserve("ptr", MOST)
    operands = field(f, plan, OPERANDS)
    with f.counted("0", operands) as k:
        far = f.offset(f.load("ptr", f.element(args, k, "ptr")), f.op("mul", "i64", first, at(f, steps, k)))
        f.store("ptr", far, f.element(places, k, "ptr"))
    rows = f.op("sub", "i64", end, first)
    inner = field(f, "%context", _INNER)
    f.line(f"call void {f.load('ptr', plan)}(i64 {rows}, i64 {inner}, ptr {places}, ptr {steps})")
    f.end()
    return f


def _rows() -> Function:
    """NumPy's loop of a function of rows: so many rows, each of so many adjacent elements."""
    f = Function("rows", "void", "ptr args", "ptr dimensions", "ptr steps", "ptr plan")
    rows = f.load("i64", "%dimensions")
    length = at(f, "%dimensions", "1")
    per_row = f.op("add", "i64", length, "8")
    grain = f.op("add", "i64", f.op("sdiv", "i64", field(f, "%plan", GRAIN), per_row), "1")
    shared, size, count = pool.chunks(f, rows, grain, 1)
    with f.when(shared):
        context = _shared(f, ("%plan", "%args", "%steps", rows, size, length))
        f.line(f"call void @parallel(ptr @rows_chunk, ptr {context}, i64 {count})")
        f.line("ret void")
        f.begin(*f.labels("unreachable"))
    f.line(f"call void {_body(f)}(i64 {rows}, i64 {length}, ptr %args, ptr %steps)")
    f.end()
    return f


def source(x86: bool, width: int) -> str:
    """The whole runtime as one module, for vector registers of so many bytes."""
    loops = [*gathering.functions(), _staged(), _range(), _range_chunk(), _elements()]
    loops += [_rows_chunk(), _rows(), *columns.functions(x86, width), *strided.functions(x86)]
    loops += [*direct.functions(x86), *small_products.functions(width), *holding.functions(), *taking.functions()]
    loops += [
        *small_lines.functions(),
        *small_draws.functions(),
        *small_lists.functions(x86),
        *small_totals.functions(x86),
    ]
    loops += [*layouts.functions(), *views.functions(), *writes.functions(), *drawing.functions(), *joins.functions()]
    return module([*pool.functions(x86), *loops], pool.GLOBALS + api.GLOBALS)


class Runtime:
    """The compiled runtime of this process."""

    def __init__(self) -> None:
        self.x86 = machine.x86()
        engine = machine.compiled(source(self.x86, machine.processor()[1]))
        self.elements, self.rows, self.range = (machine.address(engine, name) for name in ("elements", "rows", "range"))
        self.columns = {kind: machine.address(engine, f"columns_{name}") for kind, name in _FLOATS.items()}
        self.parallel = machine.address(engine, "parallel")
        self.threads = int(engine.get_global_value_address("threads"))
        self.direct, self.direct_product, self.direct_take, *self.direct_held = (
            machine.address(engine, name)
            for name in ("direct", "direct_product", "direct_take", "direct_held", "direct_held_in_place")
        )
        self.direct_view, self.direct_held_product, self.direct_held_any, self.direct_shown, self.direct_written = (
            machine.address(engine, name)
            for name in ("direct_view", "direct_held_product", "direct_held_any", "direct_shown", "direct_written")
        )
        self.direct_draw, self.direct_drawn, self.direct_drawn_whole, self.direct_joined = (
            machine.address(engine, name)
            for name in ("direct_draw", "direct_drawn", "direct_drawn_whole", "direct_joined")
        )
        entries = (
            small_lines.ENTRIES
            | small_moves.ENTRIES
            | small_sorts.ENTRIES
            | small_lists.ENTRIES
            | columns.ENTRIES
            | small_draws.ENTRIES
            | small_pairs.ENTRIES
            | small_extremes.ENTRIES
            | small_frames.ENTRIES
            | small_totals.ENTRIES
            | small_windows.ENTRIES
            | {small_totals.LOOP: ""}
        )
        entries |= layouts.ENTRIES | {lay: "" for lay, _ in layouts.KERNELS.values()}
        entries |= writes.ENTRIES | {loop: "" for loop, _, _ in writes.KERNELS.values()}
        self.lines = {name: machine.address(engine, name) for name in entries}
        self._set_api = machine.callable_at(machine.address(engine, "set_api"), None, ctypes.c_int64, ctypes.c_int64)
        self._set_threads = machine.callable_at(machine.address(engine, "set_threads"), None, ctypes.c_int64)
        os.register_at_fork(after_in_child=machine.callable_at(machine.address(engine, "after_fork"), None))

    def set_api(self, addresses: dict[str, int]) -> None:
        """What builtin functions call and compare with, by `api.NAMES`."""
        for name, place in addresses.items():
            self._set_api(api.NAMES.index(name), place)

    def set_threads(self, count: int) -> None:
        """How many threads a loop may use."""
        self._set_threads(count)


@functools.cache
def runtime() -> Runtime:
    """The runtime, compiled at first use."""
    return Runtime()

"""The loops of pooling as text: the largest element of each window of some planes, and numbers put back at places."""

from __future__ import annotations

import math

from .text import Function, literal

# What a loop is told.
_POINTERS = ("x", "out", "places")
_SIZES = ("count", "per", "h", "w", "o_h", "o_w", "k_h", "k_w", "s_h", "s_w", "p_h", "p_w", "d_h", "d_w")
FIELDS = (*_POINTERS, *_SIZES, "parallel")


def _context(f: Function) -> dict[str, str]:
    """All fields of the context."""
    kinds = {name: "ptr" if name in (*_POINTERS, "parallel") else "i64" for name in FIELDS}
    return {n: f.load(kinds[n], f.element("%context", str(k), "i64")) for k, n in enumerate(FIELDS)}


def _planes(f: Function, value: dict[str, str]) -> tuple[str, str]:
    """The planes of a chunk."""
    first = f.op("mul", "i64", "%number", value["per"])
    end = f.op("add", "i64", first, value["per"])
    return first, f.call("llvm.smin.i64", "i64", f"i64 {end}", f"i64 {value['count']}")


def _bounds(f: Function, value: dict[str, str], axis: str, index: str) -> tuple[str, str, str]:
    """Where a window begins in one dimension, and its first and last place that are inside, counted in places of the window."""
    stride, padding, dilation, k = (value[f"{word}_{axis}"] for word in "spdk")
    start = f.op("sub", "i64", f.op("mul", "i64", index, stride), padding)
    up = f.op("sub", "i64", dilation, "1")
    before = f.op("sdiv", "i64", f.op("sub", "i64", up, start), dilation)
    first = f.call("llvm.smax.i64", "i64", f"i64 {before}", "i64 0")
    left = f.op("sub", "i64", value[axis], start)
    inside = f.op("sdiv", "i64", f.op("add", "i64", left, up), dilation)
    return start, first, f.call("llvm.smin.i64", "i64", f"i64 {inside}", f"i64 {k}")


def largest(scalar: str) -> Function:
    """The largest of every window of some planes, and its place. A NaN is larger than everything; the first of equals counts."""
    f = Function(f"largest_{scalar}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = _context(f)
    plane = f.op("mul", "i64", value["h"], value["w"])
    results = f.op("mul", "i64", value["o_h"], value["o_w"])
    best, place = f.variable(scalar, literal(scalar, 0)), f.variable("i64", "0")
    with f.counted(*_planes(f, value)) as each:
        x = f.element(value["x"], f.op("mul", "i64", each, plane), scalar)
        result = f.variable("i64", f.op("mul", "i64", each, results))
        with f.counted("0", value["o_h"]) as o_h:
            start_h, first_h, end_h = _bounds(f, value, "h", o_h)
            with f.counted("0", value["o_w"]) as o_w:
                start_w, first_w, end_w = _bounds(f, value, "w", o_w)
                begin_h = f.op("add", "i64", start_h, f.op("mul", "i64", first_h, value["d_h"]))
                begin_w = f.op("add", "i64", start_w, f.op("mul", "i64", first_w, value["d_w"]))
                best.set(literal(scalar, -math.inf))
                place.set(f.op("add", "i64", f.op("mul", "i64", begin_h, value["w"]), begin_w))
                with f.counted(first_h, end_h) as k_h:
                    h = f.op("add", "i64", start_h, f.op("mul", "i64", k_h, value["d_h"]))
                    row = f.op("mul", "i64", h, value["w"])
                    with f.counted(first_w, end_w) as k_w:
                        w = f.op("add", "i64", start_w, f.op("mul", "i64", k_w, value["d_w"]))
                        at = f.op("add", "i64", row, w)
                        number = f.load(scalar, f.element(x, at, scalar))
                        larger = f.op("fcmp ogt", scalar, number, best.get())
                        taken = f.op("or", "i1", larger, f.op("fcmp uno", scalar, number, number))
                        best.set(f.let(f"select i1 {taken}, {scalar} {number}, {scalar} {best.get()}"))
                        place.set(f.let(f"select i1 {taken}, i64 {at}, i64 {place.get()}"))
                f.store(scalar, best.get(), f.element(value["out"], result.get(), scalar))
                f.store("i64", place.get(), f.element(value["places"], result.get(), "i64"))
                result.set(f.op("add", "i64", result.get(), "1"))
    f.end()
    return f


def added(scalar: str) -> Function:
    """Zeros in some planes (`out`), and to each place the numbers (`x`) that belong there added."""
    f = Function(f"added_{scalar}_chunk", "void", "ptr context", "i64 number", linkage="internal")
    value = _context(f)
    plane = f.op("mul", "i64", value["h"], value["w"])
    results = f.op("mul", "i64", value["o_h"], value["o_w"])
    with f.counted(*_planes(f, value)) as each:
        out = f.element(value["out"], f.op("mul", "i64", each, plane), scalar)
        first = f.op("mul", "i64", each, results)
        with f.counted("0", plane) as k:
            f.store(scalar, literal(scalar, 0), f.element(out, k, scalar))
        with f.counted(first, f.op("add", "i64", first, results)) as k:
            target = f.element(out, f.load("i64", f.element(value["places"], k, "i64")), scalar)
            number = f.load(scalar, f.element(value["x"], k, scalar))
            f.store(scalar, f.op("fadd", scalar, f.load(scalar, target), number), target)
    f.end()
    return f


def run(name: str) -> Function:
    """All chunks, on the threads of the pool."""
    f = Function(name, "void", "ptr context")
    value = _context(f)
    up = f.op("add", "i64", value["count"], f.op("sub", "i64", value["per"], "1"))
    chunks = f.op("sdiv", "i64", up, value["per"])
    alone, shared = f.labels("alone", "shared")
    f.line(f"br i1 {f.op('icmp eq', 'i64', chunks, '1')}, label %{alone}, label %{shared}")
    f.begin(alone)
    f.line(f"call void @{name}_chunk(ptr %context, i64 0)")
    f.line("ret void")
    f.begin(shared)
    f.line(f"call void {value['parallel']}(ptr @{name}_chunk, ptr %context, i64 {chunks})")
    f.end()
    return f

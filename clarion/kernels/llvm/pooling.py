"""The largest element of each window of a plane, and back: planes are shared among the threads."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..portable.layers.pooling import laid_as_places
from ..registry import offer
from . import build, machine
from .kept import keeps
from .places import address
from .text import Function, literal, module

Sizes = tuple[int, ...]
# Elements from which it is worth the call; and to compile it, where nothing is kept for the next time.
LEAST = 4 if config.COMPILE == "all" else 64 if keeps() else 2048
SHARED = 1 << 14  # and from which threads share it
_POINTERS = ("x", "out", "places")
_SIZES = ("count", "per", "h", "w", "o_h", "o_w", "k_h", "k_w", "s_h", "s_w", "p_h", "p_w", "d_h", "d_w")
FIELDS = (*_POINTERS, *_SIZES, "parallel")
_NO_WINDOWS = (0,) * 8
_Context = ctypes.c_int64 * len(FIELDS)
_PER, _PARALLEL = FIELDS.index("per"), FIELDS.index("parallel")


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


def _run(name: str) -> Function:
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


@functools.cache
def _functions() -> dict[str, Any] | None:
    """The compiled functions by name, or None where there are none."""
    scalars = {"float": "f", "double": "d"}
    made = [make(scalar) for scalar in scalars for make in (largest, added)]
    names = [f"{word}_{scalar}" for scalar in scalars for word in ("largest", "added")]
    try:
        engine = machine.compiled(module([*made, *[_run(name) for name in names]]))
    except machine.NoCompiler:
        return None
    places = {name: machine.address(engine, name) for name in names}
    return {
        f"{word}_{kind}": machine.callable_at(places[f"{word}_{scalar}"], None, ctypes.c_void_p)
        for word in ("largest", "added")
        for scalar, kind in scalars.items()
    }


def _shares(planes: int, work: int) -> int:
    """How many planes are done at a time."""
    return planes if work < SHARED else max(1, -(-planes // (2 * threads.number())))


def max_pool(x: Any, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The largest element of each window, and its place in the input."""
    if x.dtype.char not in "fd" or not x.flags.c_contiguous or x.ndim < 2 or not x.size or min(out_size) < 1:
        return NotImplemented
    functions = _functions()
    if functions is None:
        return NotImplemented
    shape, much, known = _planned(x.shape, ksize, stride, padding, dilation, out_size)
    best, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    context = _Context.from_buffer_copy(known)
    context[0], context[1], context[2] = address(x), address(best), address(places)
    if much:
        context[_PER] = _shares(context[_PER], SHARED)
    context[_PARALLEL] = build.running().parallel
    functions["largest_f" if x.dtype.char == "f" else "largest_d"](context)
    return best, places


@functools.lru_cache(maxsize=256)
def _planned(shape: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The shape of the result, is it much work?, and what a loop is told of the sizes."""
    *lead, height, width = shape
    planes, out = math.prod(lead), (*lead, *out_size)
    sizes = (planes, planes, height, width, *out_size, *ksize, *stride, *padding, *dilation)  # as in `FIELDS`
    return out, math.prod(out) * math.prod(ksize) >= SHARED, bytes(_Context(0, 0, 0, *sizes, 0))


def adaptive_max_pool(x: Any, out_size: Sizes) -> Any:
    """The largest element of each of `out_size` windows that cover the input, if all are alike, and its place."""
    size = x.shape[-2:]
    if x.ndim < 3 or min(out_size) < 1 or any(m % o for m, o in zip(size, out_size, strict=True)):
        return NotImplemented
    if out_size == (1, 1) and x.dtype.char in "fd" and x.flags.c_contiguous and x.size:
        return _of_planes(x)
    ksize = tuple(m // o for m, o in zip(size, out_size, strict=True))
    return max_pool(x, ksize, ksize, (0, 0), (1, 1), out_size)


def _of_planes(x: Any) -> Any:
    """The largest element of each plane, and its place: of several NaNs the last."""
    planes = x.reshape(-1, x.shape[-2] * x.shape[-1])
    places = planes.argmax(axis=1)
    best = np.take_along_axis(planes, places[:, None], axis=1)
    no_number = np.isnan(best[:, 0])
    if no_number.any():
        places[no_number] = planes.shape[1] - 1 - np.isnan(planes[no_number, ::-1]).argmax(axis=1)
    shape = (*x.shape[:-2], 1, 1)
    return best.reshape(shape), places.reshape(shape)


def add_at_places(g: Any, places: Any, shape: Sizes, n: int) -> Any:
    """Zeros of a shape, with each element of g added at its place in the last n dimensions."""
    planes = math.prod(shape[: len(shape) - n])
    if g.dtype.char not in "fd" or places.dtype != np.int64 or not planes or not g.size or not math.prod(shape):
        return NotImplemented
    functions = _functions()
    if functions is None:
        return NotImplemented
    at, out = places if places.flags.c_contiguous else np.ascontiguousarray(places), np.empty(shape, g.dtype)
    g = g if g.flags.c_contiguous else np.ascontiguousarray(g)
    sizes = (
        planes,
        _shares(planes, out.size),
        out.size // planes,
        1,
        g.size // planes,
        1,
        *_NO_WINDOWS,
    )  # as in `FIELDS`
    functions[f"added_{g.dtype.char}"](
        _Context(address(g), address(out), address(at), *sizes, build.running().parallel)
    )
    return laid_as_places(out, places, n)


def make() -> None:
    """Make all offers."""
    offer("max_pool2d", "llvm", max_pool, least=LEAST)
    offer("adaptive_max_pool2d", "llvm", adaptive_max_pool, least=LEAST)
    offer("add_at_places", "llvm", add_at_places, least=LEAST // 4)

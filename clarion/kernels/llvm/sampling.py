"""Images and volumes sampled at the points of a grid, and what differentiates that once, in one pass over the points.

Compiled for each way to sample (`Way`): the nearest element or those around a point, zeros or the border outside. A vector holds so many
points beside each other; only where samples are put back, which may meet, one point follows the other. Everything else (cubic weights,
reflection, higher derivatives) is the portable kernel's.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from .. import threads
from ..registry import offer
from . import build, machine
from .places import address
from .products.calls import F32, F64
from .text import Function, element_type, like, literal, module, suffix, with_lanes

GRAIN = 1 << 12  # samples (points times channels) that are worth a thread
LARGEST = 1 << 31  # elements of an image, whose places are counted in 32 bits
_FIELDS = ("image", "grid", "samples", "slopes", "channels", "points", "per", "parts", "parallel")
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_POINTERS = ("image", "grid", "samples", "slopes", "parallel")


class Way(NamedTuple):
    """What a function is compiled for."""

    what: str  # "take", "put" or "dots"
    scalar: str
    dims: int
    nearest: bool
    border: bool
    align: bool


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_PLACE[name]), "i64"))


def _size(f: Function, dim: int) -> str:
    """How long the image is along a coordinate: the sizes stand behind the fields, the last dimension first."""
    return f.load("i64", f.element("%context", str(len(_FIELDS) + dim), "i64"))


class Tap(NamedTuple):
    """One of the elements around a point, along one coordinate."""

    inside: str
    place: str  # an i32; 0 outside
    weight: str
    slope: str  # the derivative of the weight


def _spread(f: Function, type_: str, value: str) -> str:
    return value if element_type(type_) == type_ else f.spread(type_, value)


def _tap(f: Function, type_: str, at: str, last: str, weight: str, slope: str) -> Tap:
    zero, whole = literal(type_, 0), like(type_, "i32")
    inside = f.op(
        "and",
        like(type_, "i1"),
        f.op("fcmp oge", type_, at, zero),
        f.op("fcmp ole", type_, at, last),
    )
    return Tap(inside, f.cast("fptosi", type_, f.select(type_, inside, at, zero), whole), weight, slope)


def _around(f: Function, way: Way, type_: str, at: str, size: str) -> list[Tap]:
    """The taps of points along one coordinate, which goes from -1 to 1."""
    one, zero, half = (literal(type_, number) for number in (1, 0, 0.5))
    whole = _spread(f, type_, f.cast("sitofp", "i64", size, way.scalar))
    last = f.op("fsub", type_, whole, one)
    at = f.op("fadd", type_, at, one)
    if way.align:
        at, scale = f.op("fmul", type_, f.op("fmul", type_, at, half), last), f.op("fmul", type_, last, half)
    else:
        at = f.op("fmul", type_, f.op("fsub", type_, f.op("fmul", type_, at, whole), one), half)
        scale = f.op("fmul", type_, whole, half)
    if way.border:
        flat = f.op("or", like(type_, "i1"), f.op("fcmp ole", type_, at, zero), f.op("fcmp oge", type_, at, last))
        scale = f.select(type_, flat, zero, scale)
        first, then = (("maxnum", zero), ("minnum", last))[:: -1 if way.dims == 3 else 1]  # where NaN goes
        at = f.intrinsic(then[0], type_, f.intrinsic(first[0], type_, at, first[1]), then[1])
    if way.nearest:
        return [_tap(f, type_, f.intrinsic("rint", type_, at), last, one, zero)]
    low = f.intrinsic("floor", type_, at)
    part = f.op("fsub", type_, at, low)
    return [
        _tap(f, type_, low, last, f.op("fsub", type_, one, part), f.let(f"fneg {type_} {scale}")),
        _tap(f, type_, f.op("fadd", type_, low, one), last, part, scale),
    ]


class Corner(NamedTuple):
    """One of the elements around a point."""

    inside: str
    place: str  # in the image
    weights: list[str]  # one, or its slopes by each coordinate


def _corners(f: Function, way: Way, type_: str, coordinates: list[str]) -> list[Corner]:
    sizes = [_size(f, dim) for dim in range(way.dims)]
    along = [_around(f, way, type_, at, size) for at, size in zip(coordinates, sizes, strict=True)]
    wholes, found = like(type_, "i32"), []
    for taps in itertools.product(*along):
        inside, place = taps[-1].inside, taps[-1].place
        for tap, size in zip(reversed(taps[:-1]), reversed(sizes[:-1]), strict=True):
            wide = _spread(f, wholes, f.cast("trunc", "i64", size, "i32"))
            place = f.op("add", wholes, f.op("mul", wholes, place, wide), tap.place)
            inside = f.op("and", like(type_, "i1"), inside, tap.inside)

        def product(factors: list[str]) -> str:
            return functools.reduce(lambda a, b: f.op("fmul", type_, a, b), factors)

        if way.what == "dots":
            weights = [product([t.slope if i == j else t.weight for j, t in enumerate(taps)]) for i in range(way.dims)]
        else:
            weights = [product([tap.weight for tap in taps])]
        if way.dims == 3:  # (of volumes PyTorch leaves out what is outside: its weight may be NaN)
            weights = [f.select(type_, inside, weight, literal(type_, 0)) for weight in weights]
        found.append(Corner(inside, place, weights))
    return found


def _picked(f: Function, type_: str, base: str, corner: Corner) -> str:
    """Elements of an image; 0 for what is outside."""
    scalar, zero = element_type(type_), literal(type_, 0)
    size = 8 if scalar == "double" else 4
    if scalar == type_:  # (place 0 is there in any case)
        place = f.element(base, f.cast("sext", "i32", corner.place, "i64"), scalar)
        return f.select(type_, corner.inside, f.load(type_, place, size), zero)
    pointers = like(type_, "ptr")
    places = f.let(f"getelementptr {scalar}, ptr {base}, {like(type_, 'i32')} {corner.place}")
    return f.call(
        f"llvm.masked.gather.{suffix(type_)}.{suffix(pointers).replace('ptr', 'p0')}", type_, f"{pointers} {places}",
        f"i32 {size}", f"{like(type_, 'i1')} {corner.inside}", f"{type_} {zero}",
    )  # fmt: skip


def _apart(f: Function, type_: str, dims: int, place: str, align: int) -> list[str]:
    """The coordinates of points, which stand beside each other in memory."""
    if element_type(type_) == type_:
        return [f.load(type_, f.element(place, str(i), type_), align) for i in range(dims)]
    lanes = int(type_[1:].split(" x ")[0])
    wide = with_lanes(lanes * dims, element_type(type_))
    all_ = f.load(wide, place, align)
    masks = [", ".join(f"i32 {k * dims + i}" for k in range(lanes)) for i in range(dims)]
    return [f.let(f"shufflevector {wide} {all_}, {wide} poison, <{lanes} x i32> <{mask}>") for mask in masks]


def _together(f: Function, type_: str, values: list[str], place: str, align: int) -> None:
    """The other way round; one point after the other."""
    scalar, dims = element_type(type_), len(values)
    if scalar == type_:
        for i, value in enumerate(values):
            f.store(scalar, value, f.element(place, str(i), scalar), align)
        return
    for lane in range(int(type_[1:].split(" x ")[0])):
        for i, value in enumerate(values):
            one = f.let(f"extractelement {type_} {value}, i64 {lane}")
            f.store(scalar, one, f.element(place, str(lane * dims + i), scalar), align)


def _points(f: Function, way: Way, type_: str, image: str, point: str, channels: tuple[str, str]) -> None:
    """One point of an image, or a vector of them, in some channels."""
    scalar, value = way.scalar, {name: _get(f, name) for name in _FIELDS}
    align = 8 if scalar == "double" else 4
    long = functools.reduce(lambda a, b: f.op("mul", "i64", a, b), [_size(f, dim) for dim in range(way.dims)])
    number = f.op("add", "i64", f.op("mul", "i64", image, value["points"]), point)
    at = f.op("mul", "i64", number, str(way.dims))
    corners = _corners(f, way, type_, _apart(f, type_, way.dims, f.element(value["grid"], at, scalar), align))
    sums = [f.variable(type_, literal(type_, 0)) for _ in range(way.dims if way.what == "dots" else 1)]
    with f.counted(*channels) as channel:
        plane = f.op("add", "i64", f.op("mul", "i64", image, value["channels"]), channel)
        dense = f.element(value["image"], f.op("mul", "i64", plane, long), scalar)
        here = f.op("add", "i64", f.op("mul", "i64", plane, value["points"]), point)
        sample = f.element(value["samples"], here, scalar)
        if way.what == "take":
            sums[0].set(literal(type_, 0))
            for corner in corners:
                sums[0].set(
                    f.intrinsic("fma", type_, _picked(f, type_, dense, corner), corner.weights[0], sums[0].get())
                )
            f.store(type_, sums[0].get(), sample, align)
        elif way.what == "put":
            given = f.load(type_, sample, align)
            for corner in corners:
                with f.when(corner.inside):
                    place = f.element(dense, f.cast("sext", "i32", corner.place, "i64"), scalar)
                    more = f.intrinsic("fma", type_, given, corner.weights[0], f.load(type_, place, align))
                    f.store(type_, more, place, align)
        else:
            given = f.load(type_, sample, align)
            for corner in corners:
                product = f.op("fmul", type_, given, _picked(f, type_, dense, corner))
                for total, slope in zip(sums, corner.weights, strict=True):
                    total.set(f.intrinsic("fma", type_, product, slope, total.get()))
    if way.what == "dots":
        _together(f, type_, [total.get() for total in sums], f.element(value["slopes"], at, scalar), align)


def _chunk(way: Way, lanes: int) -> Function:
    """Some points of an image; where samples are put back, all of them in some channels."""
    f = Function("sample_chunk", "void", "ptr context", "i64 number", linkage="internal")
    parts, per = _get(f, "parts"), _get(f, "per")
    image, part = f.op("sdiv", "i64", "%number", parts), f.op("srem", "i64", "%number", parts)
    first, whole = f.op("mul", "i64", part, per), _get(f, "channels" if way.what == "put" else "points")
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {whole}")
    if way.what == "put":
        with f.counted("0", _get(f, "points")) as point:
            _points(f, way, way.scalar, image, point, (first, end))
    else:
        channels = ("0", _get(f, "channels"))
        together = f.op("sub", "i64", end, f.op("srem", "i64", f.op("sub", "i64", end, first), str(lanes)))
        with f.counted(first, together, str(lanes)) as point:
            _points(f, way, with_lanes(lanes, way.scalar), image, point, channels)
        with f.counted(together, end) as point:
            _points(f, way, way.scalar, image, point, channels)
    f.end()
    return f


def _all() -> Function:
    f = Function("sample", "void", "ptr context", "i64 chunks")
    f.line(f"call void {_get(f, 'parallel')}(ptr @sample_chunk, ptr %context, i64 %chunks)")
    f.end()
    return f


@functools.cache
def _function(way: Way) -> Any:
    """The function of a way, compiled at first use; None where there is none."""
    try:
        if not machine.multiplies_and_adds():
            return None
        lanes = machine.processor()[1] // (8 if way.scalar == "double" else 4)
        engine = machine.compiled(module([_chunk(way, lanes), _all()]))
        return machine.callable_at(machine.address(engine, "sample"), None, ctypes.c_void_p, ctypes.c_int64)
    except machine.NoCompiler:
        return None


Shape = tuple[int, ...]


def _run(what: str, shape: Shape, arrays: tuple[Any, Any, Any], slopes: Any, how: tuple[str, str, bool]) -> bool:
    """Sample an image of a shape (`arrays`: image, grid, samples); False where no function is for that."""
    image, grid, samples = arrays
    mode, padding, align = how
    if mode == "bicubic" or padding == "reflection" or not grid.size or not math.prod(shape):
        return False
    scalar = {F32: "float", F64: "double"}.get(grid.dtype)
    if scalar is None or image.dtype is not grid.dtype or math.prod(shape[2:]) >= LARGEST:
        return False
    function = _function(Way(what, scalar, len(shape) - 2, mode == "nearest", padding == "border", align))
    if function is None:
        return False
    channels, points = shape[1], math.prod(grid.shape[1:-1])
    length = channels if what == "put" else points
    parts = -(-min(threads.number(), max(1, samples.size // GRAIN)) // shape[0])
    per = -(-length // parts)
    context = (ctypes.c_int64 * (len(_FIELDS) + 3))(
        *[address(array) for array in arrays], 0 if slopes is None else address(slopes), channels, points, per, parts,
        build.running().parallel, *reversed(shape[2:]),
    )  # fmt: skip
    function(context, shape[0] * parts)
    return True


def _adjacent(*arrays: Any) -> tuple[Any, ...]:
    return tuple(np.ascontiguousarray(array) for array in arrays)


def _take(x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Shape) -> Any:
    if any(orders):
        return NotImplemented
    x, grid = _adjacent(x, grid)
    out = np.empty((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    return out if _run("take", x.shape, (x, grid, out), None, (mode, padding, align)) else NotImplemented


def _put(g: Any, grid: Any, sizes: Shape, mode: str, padding: str, align: bool, orders: Shape) -> Any:
    if any(orders):
        return NotImplemented
    g, grid = _adjacent(g, grid)
    out = np.zeros((*g.shape[:2], *sizes), g.dtype)
    return out if _run("put", out.shape, (out, grid, g), None, (mode, padding, align)) else NotImplemented


def _dots(g: Any, x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Shape) -> Any:
    if any(orders):
        return NotImplemented
    g, x, grid = _adjacent(g, x, grid)
    out = np.empty(grid.shape, grid.dtype)
    return out if _run("dots", x.shape, (x, grid, g), out, (mode, padding, align)) else NotImplemented


def make(least: int) -> None:
    """Make all offers."""
    offer("grid_sampler_2d", "llvm", _take, least=1)
    offer("grid_sampler_3d", "llvm", _take, least=1)
    offer("grid_sampler_put", "llvm", _put, least=1)
    offer("grid_sampler_dots", "llvm", _dots, least=1)

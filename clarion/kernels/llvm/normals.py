"""Normal numbers from uniform ones, sixteen by sixteen, and uniform ones between others, with PyTorch's bits: what boxmuller.py says,
with fused instructions."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .. import boxmuller as b
from . import machine
from .places import address
from .text import Function, literal, module

_EIGHT, _WHOLE = "<8 x float>", "<8 x i32>"


class _Lanes:
    """Eight numbers at a time: instructions with their operands as text or as numbers."""

    def __init__(self, f: Function) -> None:
        self.f = f

    def _operands(self, type_: str, values: tuple[Any, ...]) -> list[str]:
        return [value if isinstance(value, str) else literal(type_, float(value)) for value in values]

    def op(self, word: str, *values: Any) -> str:
        return self.f.op(word, _EIGHT, *self._operands(_EIGHT, values))

    def whole(self, word: str, *values: Any) -> str:
        return self.f.op(word, _WHOLE, *self._operands(_WHOLE, values))

    def fma(self, *values: Any) -> str:
        return self.f.intrinsic("fma", _EIGHT, *self._operands(_EIGHT, values))

    def bits(self, value: str) -> str:
        return self.f.cast("bitcast", _EIGHT, value, _WHOLE)

    def number(self, bits: str) -> str:
        return self.f.cast("bitcast", _WHOLE, bits, _EIGHT)


def _log(m: _Lanes, x: str) -> str:
    bits = m.bits(x)
    power = m.whole("ashr", m.whole("sub", bits, b.SQRT_HALF_BITS), 23)
    exponent = m.f.cast("sitofp", _WHOLE, power, _EIGHT)
    x = m.op("fsub", m.number(m.whole("sub", bits, m.whole("shl", power, 23))), 1)
    square = m.op("fmul", x, x)
    value = m.fma(x, b.LOG[0], b.LOG[1])
    for c in b.LOG[2:]:
        value = m.fma(value, x, c)
    value = m.fma(m.op("fmul", value, x), square, m.op("fmul", exponent, b.LN2_LOW))
    value = m.op("fsub", value, m.op("fmul", square, 0.5))
    return m.op("fadd", m.op("fadd", x, value), m.op("fmul", exponent, b.LN2_HIGH))


def _cos_sin(m: _Lanes, x: str) -> tuple[str, str]:
    octant = m.f.cast("fptosi", _EIGHT, m.op("fmul", x, b.FOUR_OVER_PI), _WHOLE)
    octant = m.whole("and", m.whole("add", octant, 1), -2)
    y = m.f.cast("sitofp", _WHOLE, octant, _EIGHT)
    for part in b.QUARTER_PI[:2]:
        x = m.op("fadd", x, m.op("fmul", y, part))
    y = m.fma(y, b.QUARTER_PI[2], x)
    square = m.op("fmul", y, y)
    both = []
    for k, (factor, rest) in enumerate(((square, m.op("fmul", square, -0.5)), (y, y))):
        first, second, third = (float(row[k, 0]) for row in b.COS_SIN)
        value = m.fma(m.fma(square, first, second), square, third)
        both.append(m.fma(m.op("fmul", value, square), factor, rest))
    cos, sin = m.bits(m.op("fadd", both[0], 1)), m.bits(both[1])
    swap = m.whole("and", m.whole("xor", cos, sin), m.whole("ashr", m.whole("shl", octant, 30), 31))
    sign = [m.whole("shl", m.whole("and", turned, 4), 29) for turned in (m.whole("add", octant, 2), octant)]
    cos, sin = (m.whole("xor", m.whole("xor", value, swap), s) for value, s in zip((cos, sin), sign, strict=True))
    return m.number(cos), m.number(sin)


def _uniforms() -> Function:
    """Numbers of [0, 1) as numbers of [low, high): where rounding has reached the open end, they are the other one."""
    f = Function("uniforms", "void", "ptr unit", "i64 count", "float low", "float high")
    scale, moved = f.op("fsub", "float", "%high", "%low"), f.op("fcmp une", "float", "%low", literal("float", 0))
    whole = f.op("and", "i64", "%count", "-8")
    for type_, first, end, step in ((_EIGHT, "0", whole, "8"), ("float", whole, "%count", "1")):
        low, high, factor = ("%low", "%high", scale)
        ends = f.let(f"select i1 {moved}, i1 true, i1 false")
        if type_ == _EIGHT:
            low, high, factor = (f.spread(type_, value) for value in (low, high, factor))
            ends = f.spread("<8 x i1>", ends)
        with f.counted(first, end, step) as k:
            place = f.element("%unit", k, "float")
            value = f.intrinsic("fma", type_, f.load(type_, place, 4), factor, low)
            reached = f.op("and", "i1" if type_ == "float" else "<8 x i1>", f.op("fcmp oeq", type_, value, high), ends)
            f.store(type_, f.select(type_, reached, low, value), place, 4)
    f.end()
    return f


def _source() -> str:
    f = Function("normals", "void", "ptr unit", "i64 groups", "float mean", "float std")
    m = _Lanes(f)
    mean, std = f.spread(_EIGHT, "%mean"), f.spread(_EIGHT, "%std")
    with f.counted("0", "%groups") as k:
        places = [f.offset("%unit", f.op("add", "i64", f.op("mul", "i64", k, "64"), str(at))) for at in (0, 32)]
        first, second = (f.load(_EIGHT, place, 4) for place in places)
        radius = f.intrinsic("sqrt", _EIGHT, m.op("fmul", _log(m, m.op("fsub", 1, first)), -2))
        turns = _cos_sin(m, m.op("fmul", second, np.float32(2 * np.pi)))
        for place, part in zip(places, turns, strict=True):
            f.store(_EIGHT, m.fma(m.op("fmul", part, radius), std, mean), place, 4)
    f.end()
    return module([f, _uniforms()])


@functools.cache
def loop(name: str) -> int:
    """Where a compiled loop is."""
    return machine.address(machine.compiled(_source()), name)


@functools.cache
def _function(name: str) -> Any:
    types = (None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_float)
    return machine.callable_at(loop(name), *types)


def uniforms_between(unit: Any, low: float, high: float) -> Any:
    """Uniform float32 of [low, high) in place of those of [0, 1)."""
    try:
        run = _function("uniforms")
    except machine.NoCompiler:
        return NotImplemented
    run(address(unit), unit.size, low, high)
    return unit


def normals_by_sixteen(unit: Any, mean: float, std: float, exact: bool) -> Any:
    """Normals in place of uniform float32, whose number is a multiple of sixteen: exact they are in any case."""
    try:
        run = _function("normals")
    except machine.NoCompiler:
        return NotImplemented
    run(address(unit), unit.size // 16, mean, std)
    return unit

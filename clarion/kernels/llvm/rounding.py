"""Vectors of float32 that stand in memory in half precision: widened when they are read, rounded to the nearest (ties to even) when written.

Numbers of bfloat16 are read and written as whole numbers of 16 bits: the upper half of a float32's.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from . import machine
from .text import Function, literal, suffix, with_lanes

F32, F16, BF16, BITS = (np.dtype(kind) for kind in (np.float32, np.float16, ml_dtypes.bfloat16, np.uint16))
SCALARS = {F16: "half", BF16: "i16"}  # what stands in memory


def half_of(dtype: Any) -> Any:
    """F16 or BF16, if that is what a type is; else None."""
    return F16 if dtype == F16 else BF16 if dtype == BF16 else None


def seen_as(dtype: Any) -> Any:
    """The type as which NumPy hands such numbers to a loop."""
    return BITS if dtype is BF16 else dtype


def _to_bfloat(f: Function, value: str, lanes: int) -> str:
    """The upper half of the bits, rounded; of a NaN its sign and a quiet one."""
    if lanes == 16 and "avx512_bf16" in machine.processor()[0].split():
        return _by_instruction(f, value)
    return _step_by_step(f, value, lanes)


def _by_instruction(f: Function, value: str) -> str:
    """The processor's own conversion makes zeros of the smallest numbers: where there are some, another way is taken."""
    floats, short = with_lanes(16, "float"), with_lanes(16, "i16")
    tiny = f.call("llvm.x86.avx512.fpclass.ps.512", "<16 x i1>", f"{floats} {value}", f"i32 {_DENORMAL}")
    some = f.op("icmp ne", "i16", f.cast("bitcast", "<16 x i1>", tiny, "i16"), "0")

    def converted() -> str:
        found = f.call("llvm.x86.avx512bf16.cvtneps2bf16.512", "<16 x bfloat>", f"{floats} {value}")
        return f.cast("bitcast", "<16 x bfloat>", found, short)

    return f.choose(short, some, lambda: _step_by_step(f, value, 16), converted)


_DENORMAL = 0x20


def _step_by_step(f: Function, value: str, lanes: int) -> str:
    words = with_lanes(lanes, "i32")
    bits = f.cast("bitcast", with_lanes(lanes, "float"), value, words)
    odd = f.op("and", words, f.op("lshr", words, bits, literal(words, 16)), literal(words, 1))
    up = f.op("add", words, bits, f.op("add", words, odd, literal(words, 0x7FFF)))
    sign = f.op("and", words, bits, literal(words, -(1 << 31)))
    quiet = f.op("or", words, sign, literal(words, 0x7FC00000))
    none = f.op("icmp ugt", words, f.op("and", words, bits, literal(words, 0x7FFFFFFF)), literal(words, 0x7F800000))
    found = f.select(words, none, quiet, up)
    return f.cast("trunc", words, f.op("lshr", words, found, literal(words, 16)), with_lanes(lanes, "i16"))


def narrowed(f: Function, value: str, lanes: int, kind: Any) -> str:
    """Float32 as they stand in memory."""
    if kind is BF16:
        return _to_bfloat(f, value, lanes)
    return f.cast("fptrunc", with_lanes(lanes, "float"), value, with_lanes(lanes, "half"))


def widened(f: Function, value: str, lanes: int, kind: Any) -> str:
    """What stands in memory as float32."""
    floats, words = with_lanes(lanes, "float"), with_lanes(lanes, "i32")
    if kind is F16:
        return f.cast("fpext", with_lanes(lanes, "half"), value, floats)
    bits = f.op("shl", words, f.cast("zext", with_lanes(lanes, "i16"), value, words), literal(words, 16))
    return f.cast("bitcast", words, bits, floats)


def load(f: Function, lanes: int, kind: Any, place: str, mask: str | None = None) -> str:
    """A vector of float32 out of memory; zero where it is cut off."""
    type_ = with_lanes(lanes, SCALARS[kind])
    if mask is None:
        return widened(f, f.load(type_, place, 2), lanes, kind)
    rest = ("i32 2", f"<{lanes} x i1> {mask}", f"{type_} zeroinitializer")
    value = f.call(f"llvm.masked.load.{suffix(type_)}.p0", type_, f"ptr {place}", *rest)
    return widened(f, value, lanes, kind)


def store(f: Function, lanes: int, kind: Any, value: str, place: str, mask: str | None = None) -> None:
    """A vector of float32 into memory."""
    type_, value = with_lanes(lanes, SCALARS[kind]), narrowed(f, value, lanes, kind)
    if mask is None:
        f.store(type_, value, place, 2)
        return
    arguments = (f"{type_} {value}", f"ptr {place}", "i32 2", f"<{lanes} x i1> {mask}")
    f.call(f"llvm.masked.store.{suffix(type_)}.p0", "void", *arguments)

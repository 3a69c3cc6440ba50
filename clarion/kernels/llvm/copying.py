"""Copies and constants by several threads: one core alone does not fill the way to memory.

    x.clone(), y.copy_(x), torch.cat([x, y]), torch.ones(1000, 1000), torch.tril(x)

A copy is rows of adjacent bytes, counted through; what lies apart element by element, or is cast, is left to NumPy.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import threads
from ..layout import channels_last
from ..registry import offer
from . import build, machine
from .places import address
from .pool import all_chunks
from .text import Function, module, with_lanes

LEAST = 1 << 20  # bytes from which on a second thread pays
_SHARE = 1 << 18  # and that each thread should have
_ROW = 64  # the shortest rows that are worth it
_MOST = 3  # dimensions that are counted through
# Source and target, bytes of a row, rows in all and for a thread; sizes of the dimensions, and how far they are in both.
_FIELDS = (
    "source", "target", "bytes", "rows", "per", "chunks", "parallel", "size0", "size1", "size2", "from0", "from1", "from2",
    "to0", "to1", "to2",
)  # fmt: skip
_POINTERS = ("source", "target", "parallel")
_PATTERN = 8  # bytes that a constant is given in


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_FIELDS.index(name)), "i64"))


def _copy_chunk() -> Function:
    """Some rows."""
    f = Function("copy_chunk", "void", "ptr context", "i64 number", linkage="internal")
    source, target, bytes_, per = (_get(f, name) for name in ("source", "target", "bytes", "per"))
    first = f.op("mul", "i64", "%number", per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {_get(f, 'rows')}")
    dimensions = [[_get(f, f"{word}{d}") for word in ("size", "from", "to")] for d in range(_MOST)]
    with f.counted(first, end) as row:
        left, near, far = (f.variable("i64", value) for value in (row, "0", "0"))
        for size, from_, to in dimensions:
            at = f.op("srem", "i64", left.get(), size)
            left.set(f.op("sdiv", "i64", left.get(), size))
            for place, step in ((near, from_), (far, to)):
                place.set(f.op("add", "i64", place.get(), f.op("mul", "i64", at, step)))
        places = f"ptr {f.offset(target, far.get())}", f"ptr {f.offset(source, near.get())}"
        f.call("llvm.memcpy.p0.p0.i64", "void", *places, f"i64 {bytes_}", "i1 false")
    f.end()
    return f


def _fill_chunk(lanes: int) -> Function:
    """Some of the places of eight bytes: what stands in `source`, again and again."""
    f = Function("fill_chunk", "void", "ptr context", "i64 number", linkage="internal")
    type_ = with_lanes(lanes, "i64")
    target, per, rows = (_get(f, name) for name in ("target", "per", "rows"))
    first = f.op("mul", "i64", "%number", per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {rows}")
    value = f.load("i64", _get(f, "source"))
    many = f.spread(type_, value)
    whole = f.op("sub", "i64", end, f.op("srem", "i64", f.op("sub", "i64", end, first), str(lanes)))
    with f.counted(first, whole, str(lanes)) as k:
        f.store(type_, many, f.element(target, k, "i64"), 1)
    with f.counted(whole, end) as k:
        f.store("i64", value, f.element(target, k, "i64"), 1)
    f.end()
    return f


def _triangle_chunk() -> Function:
    """Some rows of matrices: up to a border (from it on, where the upper part is kept), and zeros elsewhere.

    `size0`: rows of a matrix, `size1`: bytes of an element; `from0`: the border in the first row, `to0`: is it the upper part?
    """
    f = Function("triangle_chunk", "void", "ptr context", "i64 number", linkage="internal")
    source, target, bytes_, per = (_get(f, name) for name in ("source", "target", "bytes", "per"))
    count, size, border, upper = (_get(f, name) for name in ("size0", "size1", "from0", "to0"))
    upper = f.op("icmp ne", "i64", upper, "0")
    first = f.op("mul", "i64", "%number", per)
    end = f.call("llvm.smin.i64", "i64", f"i64 {f.op('add', 'i64', first, per)}", f"i64 {_get(f, 'rows')}")
    with f.counted(first, end) as row:
        place = f.op("mul", "i64", f.op("add", "i64", f.op("srem", "i64", row, count), border), size)
        place = f.call("llvm.smin.i64", "i64", f"i64 {place}", f"i64 {bytes_}")
        place = f.call("llvm.smax.i64", "i64", f"i64 {place}", "i64 0")
        begin, after = f.select("i64", upper, place, "0"), f.select("i64", upper, bytes_, place)
        line = f.op("mul", "i64", row, bytes_)
        near, far = f.offset(source, f.op("add", "i64", line, begin)), f.offset(target, line)
        kept = f.op("sub", "i64", after, begin)
        f.call("llvm.memset.p0.i64", "void", f"ptr {far}", "i8 0", f"i64 {begin}", "i1 false")
        f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {f.offset(far, begin)}", f"ptr {near}", f"i64 {kept}", "i1 false")
        left = f.op("sub", "i64", bytes_, after)
        f.call("llvm.memset.p0.i64", "void", f"ptr {f.offset(far, after)}", "i8 0", f"i64 {left}", "i1 false")
    f.end()
    return f


def _run(name: str, x86: bool) -> Function:
    f = Function(name, "void", "ptr context")
    all_chunks(f, f"{name}_chunk", "%context", _get(f, "chunks"), _get(f, "parallel"), x86)
    f.end()
    return f


@functools.cache
def _function(name: str) -> Any:
    """`copy`, `triangle` or `fill`, compiled at first use; None where nothing can be compiled."""
    x86, made = machine.x86(), {"copy": _copy_chunk, "triangle": _triangle_chunk}.get(name)
    chunk = _fill_chunk(machine.processor()[1] // _PATTERN) if made is None else made()
    try:
        engine = machine.compiled(module([chunk, _run(name, x86)]))
    except machine.NoCompiler:
        return None
    return machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p)


def _call(name: str, source: int, target: int, bytes_: int, rows: int, total: int, steps: Sequence[int] = ()) -> bool:
    """Run it, by as many threads as `total` bytes are worth. False: nothing can be compiled."""
    function = _function(name)
    if function is None:
        return False
    count = max(1, min(threads.number(), total // _SHARE, rows))
    per = max(1, -(-rows // count))
    words = (source, target, bytes_, rows, per, -(-rows // per), build.running().parallel, *steps)
    context = (ctypes.c_int64 * len(_FIELDS))(*words)
    function(ctypes.addressof(context))
    return True


def _rows(target: Any, source: Any) -> tuple[int, list[list[int]]] | None:
    """Bytes of a row, and the dimensions of rows as [size, step in the source, in the target]; None where they are no rows."""
    bytes_ = target.itemsize
    found: list[list[int]] = []
    for n, near, far in zip(reversed(target.shape), reversed(source.strides), reversed(target.strides), strict=True):
        if n == 1:
            continue
        if not found and near == far == bytes_:
            bytes_ *= n
        elif found and near == found[-1][0] * found[-1][1] and far == found[-1][0] * found[-1][2]:
            found[-1][0] *= n
        elif len(found) < _MOST:
            found.append([n, near, far])
        else:
            return None
    return (bytes_, found) if bytes_ >= _ROW else None


def copied(target: Any, source: Any, fresh: bool = False) -> bool:
    """Copy `source` into `target`, of the same shape; False where this is not the way. `fresh`: they surely lie apart."""
    if target.nbytes < LEAST or target.dtype is not source.dtype or target.dtype.hasobject:
        return False
    if type(target) is not np.ndarray or type(source) is not np.ndarray or source.shape != target.shape:
        return False
    laid = _rows(target, source)
    if laid is None or (not fresh and np.may_share_memory(target, source)):
        return False
    bytes_, outer = laid
    if not outer:  # one long row: cut into some
        size = 1 << 16
        rows, rest = divmod(bytes_, size)
        if rest:
            ctypes.memmove(address(target) + rows * size, address(source) + rows * size, rest)
        bytes_, outer = size, [[rows, size, size]]
    outer += [[1, 0, 0]] * (_MOST - len(outer))
    steps = [d[k] for k in range(3) for d in outer]
    rows = outer[0][0] * outer[1][0] * outer[2][0]
    return _call("copy", address(source), address(target), bytes_, rows, target.nbytes, steps)


def filled(target: Any, value: Any) -> bool:
    """Write one number everywhere; False where this is not the way."""
    size, bytes_ = target.itemsize, target.nbytes
    if bytes_ < LEAST or size > _PATTERN or target.dtype.hasobject or type(target) is not np.ndarray:
        return False
    if not (target.flags.c_contiguous or target.flags.f_contiguous):
        return False
    pattern = np.full(_PATTERN // size, value, target.dtype)
    whole = bytes_ // _PATTERN
    if not _call("fill", address(pattern), address(target), 0, whole, bytes_):
        return False
    ctypes.memmove(address(target) + whole * _PATTERN, address(pattern), bytes_ - whole * _PATTERN)
    return True


# Kernels -------------------------------------------------------------------------------------------------


def _write(out: Any, source: Any) -> bool:
    """An array, or a number, cast as NumPy casts it."""
    if getattr(source, "ndim", 0):
        return copied(out, source)
    kind = getattr(getattr(source, "dtype", None), "kind", "")
    return kind != "c" and not isinstance(source, complex) and np.ndim(source) == 0 and filled(out, source)


def _join(arrays: Sequence[Any], dim: int) -> Any:
    first = arrays[0]
    kind, shape = first.dtype, first.shape
    long = sum(a.nbytes for a in arrays) >= LEAST and first.ndim > 0
    if not long or not all(
        type(a) is np.ndarray and a.dtype is kind and a.flags.c_contiguous and a.ndim == len(shape)
        and a.shape[:dim] == shape[:dim] and a.shape[dim + 1 :] == shape[dim + 1 :]
        for a in arrays
    ) or all(map(channels_last, arrays)):  # fmt: skip
        return None
    length = sum(a.shape[dim] for a in arrays)
    out, start = np.empty((*shape[:dim], length, *shape[dim + 1 :]), kind), 0
    for a in arrays:
        part = out[(slice(None),) * dim + (slice(start, start + a.shape[dim]),)]
        start += a.shape[dim]
        if not copied(part, a, True):
            part[...] = a
    return out


def _triangle(upper: bool) -> Any:
    def run(x: Any, diagonal: int) -> Any:
        if type(x) is not np.ndarray or x.ndim < 2 or not x.size or x.dtype.hasobject:
            return NotImplemented
        x = np.ascontiguousarray(x)
        out = np.empty(x.shape, x.dtype)
        n, m = x.shape[-2:]
        border = max(-n, min(diagonal, m)) + (not upper)
        steps = (n, x.itemsize, 0, border, 0, 0, int(upper), 0, 0)
        done = _call("triangle", address(x), address(out), m * x.itemsize, x.size // m, x.nbytes, steps)
        return out if done else NotImplemented

    return run


def make(least: int) -> None:
    """Make all offers."""
    offer("tril", "llvm", _triangle(False), least=least)
    offer("triu", "llvm", _triangle(True), least=least)
    offer("write_at_once", "llvm", _write, least=1)
    offer("join_at_once", "llvm", _join)

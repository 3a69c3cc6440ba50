"""Softmax and its kin along a dimension that is not the last: vectors hold neighbours of the dimensions behind it.

What is reduced then lies in one lane, so no row has to be gathered or summed across, however short it is.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import threads
from . import build, machine
from .attention.rows import Row
from .kernel import Rows
from .places import address
from .pool import all_chunks
from .products.blocks import least, plus, times
from .products.tiles import Shape, masked_load, masked_store, shape_for
from .text import Function, literal, module, with_lanes

VECTORS = 2  # at a time, so that one does not wait for itself
GRAIN = 4096  # elements that are worth a thread
_FIELDS = ("x", "out", "n", "inner", "strips", "items", "per", "parallel")
_POINTERS = ("x", "out", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_FIELDS.index(name)), "i64"))


class _Columns:
    """Some columns of a matrix of `n` rows: loops over its rows."""

    def __init__(self, f: Function, shape: Shape, x: str, n: str, inner: str, left: str) -> None:
        self.f, self.shape, self.x, self.n, self.inner = f, shape, x, n, inner
        self.m = Row(f, shape).m
        numbers = with_lanes(shape.lanes, "i64")
        self.masks = []
        for j in range(VECTORS):
            places = "<" + ", ".join(f"i64 {j * shape.lanes + k}" for k in range(shape.lanes)) + ">"
            self.masks.append(f.op("icmp slt", numbers, places, f.spread(numbers, left)))

    def at(self, base: str, row: str, vector: int) -> str:
        """Where a vector of a row lies."""
        place = plus(self.f, times(self.f, row, self.inner), str(vector * self.shape.lanes))
        return self.f.element(base, place, self.shape.scalar)

    def folded(self, start: float, step: Callable[[str, str, int], str]) -> list[str]:
        """`total = step(total, element, vector)` over all rows, for each vector."""
        totals = [self.f.variable(self.shape.type, literal(self.shape.type, start)) for _ in self.masks]
        with self.f.counted("0", self.n) as row:
            for j, (total, mask) in enumerate(zip(totals, self.masks, strict=True)):
                value = masked_load(self.f, self.shape, self.at(self.x, row, j), mask)
                total.set(step(total.get(), value, j))
        return [total.get() for total in totals]

    def mapped(self, out: str, function: Callable[[str, int], str]) -> None:
        """Write a function of every element."""
        with self.f.counted("0", self.n) as row:
            for j, mask in enumerate(self.masks):
                value = masked_load(self.f, self.shape, self.at(self.x, row, j), mask)
                masked_store(self.f, self.shape, function(value, j), self.at(out, row, j), mask)

    def written(self, out: str, values: list[str]) -> None:
        """Write one row."""
        for j, (value, mask) in enumerate(zip(values, self.masks, strict=True)):
            masked_store(self.f, self.shape, value, self.at(out, "0", j), mask)


def _tops(c: _Columns) -> list[str]:
    """The largest of each column; 0 where that is not finite. (A NaN may be lost here: it comes back with the exponentials.)"""
    m = c.m
    tops = c.folded(-math.inf, lambda top, x, _: m.pick(m.compare("ogt", x, top), x, top))
    infinite = m.c(math.inf)
    return [m.pick(m.compare("olt", m.abs(top), infinite), top, m.c(0)) for top in tops]


def _logsumexp(c: _Columns, out: str) -> None:
    m, tops = c.m, _tops(c)
    sums = c.folded(0, lambda total, x, j: m.add(total, m.exp(m.sub(x, tops[j]))))
    c.written(out, [m.add(m.log(total), top) for total, top in zip(sums, tops, strict=True)])


def _shifts(c: _Columns) -> list[str]:
    """The largest of each column, as softmax subtracts it: infinities give NaN, as PyTorch's."""
    return c.folded(-math.inf, lambda top, x, _: c.m.extreme("ogt", x, top))


def _softmax(c: _Columns, out: str) -> None:
    m, tops = c.m, _shifts(c)
    sums = c.folded(0, lambda total, x, j: m.add(total, m.exp(m.sub(x, tops[j]))))
    c.mapped(out, lambda x, j: m.div(m.exp(m.sub(x, tops[j])), sums[j]))


def _log_softmax(c: _Columns, out: str) -> None:
    m, tops = c.m, _shifts(c)
    sums = c.folded(0, lambda total, x, j: m.add(total, m.exp(m.sub(x, tops[j]))))
    logs = [m.log(total) for total in sums]
    c.mapped(out, lambda x, j: m.sub(m.sub(x, tops[j]), logs[j]))


def _extreme(word: str, start: float) -> Callable[[_Columns, str], None]:
    return lambda c, out: c.written(out, c.folded(start, lambda total, x, _: c.m.extreme(word, x, total)))


_KINDS: dict[str, Callable[[_Columns, str], None]] = {
    "logsumexp": _logsumexp, "softmax": _softmax, "log_softmax": _log_softmax,
    "amax": _extreme("ogt", -math.inf), "amin": _extreme("olt", math.inf),
}  # fmt: skip
_WHOLE = ("softmax", "log_softmax")  # the result is as large as the input


def _chunk(shape: Shape, name: str) -> Function:
    """Some strips of columns."""
    f = Function("along_chunk", "void", "ptr context", "i64 number", linkage="internal")
    x, out, n, inner, strips = (_get(f, field) for field in ("x", "out", "n", "inner", "strips"))
    first = times(f, "%number", _get(f, "per"))
    with f.counted(first, least(f, plus(f, first, _get(f, "per")), _get(f, "items"))) as item:
        outer, strip = (f.op(word, "i64", item, strips) for word in ("sdiv", "srem"))
        column = times(f, strip, str(VECTORS * shape.lanes))
        matrix = times(f, outer, inner)
        source = f.element(x, plus(f, times(f, matrix, n), column), shape.scalar)
        place = plus(f, times(f, matrix, n if name in _WHOLE else "1"), column)
        columns = _Columns(f, shape, source, n, inner, f.op("sub", "i64", inner, column))
        _KINDS[name](columns, f.element(out, place, shape.scalar))
    f.end()
    return f


@functools.cache
def _function(name: str, scalar: str) -> Any:
    """The function, compiled at first use; None where there is none."""
    x86 = machine.x86()
    shape = shape_for(scalar, machine.processor()[1], x86)
    run = Function("along", "void", "ptr context", "i64 chunks")
    all_chunks(run, "along_chunk", "%context", "%chunks", _get(run, "parallel"), x86)
    run.end()
    try:
        engine = machine.compiled(module([_chunk(shape, name), run]))
    except machine.NoCompiler:
        return None
    strip = VECTORS * shape.lanes
    return machine.callable_at(machine.address(engine, "along"), None, ctypes.c_void_p, ctypes.c_int64), strip


def along(name: str, x: Any, dim: int) -> Any:
    """One of these functions along a dimension, without it where it is a reduction."""
    shape = x.shape
    inner = math.prod(shape[dim + 1 :])
    if x.dtype.char not in "fd" or not x.flags.c_contiguous or not x.size or inner < 4:
        return NotImplemented
    made = _function(name, "double" if x.itemsize == 8 else "float")
    if made is None:
        return NotImplemented
    run, strip = made
    out = np.empty(shape if name in _WHOLE else (*shape[:dim], *shape[dim + 1 :]), x.dtype)
    strips = -(-inner // strip)
    items = math.prod(shape[:dim]) * strips
    parts = min(2 * threads.number(), x.size // GRAIN, items) if threads.number() > 1 else 1
    per = -(-items // max(1, parts))
    words = (
        address(x),
        address(out),
        shape[dim],
        inner,
        strips,
        items,
        per,
        build.running().parallel if parts > 1 else 0,
    )
    context = (ctypes.c_int64 * len(_FIELDS))(*words)
    run(ctypes.addressof(context), -(-items // per))
    return out


def of_rows_or_along(rows: Rows) -> Rows:
    """A function of rows, which is for other dimensions, too."""
    name = rows.name

    def reduced(x: Any, dim: Any, keepdim: bool) -> Any:
        if dim is None or len(dim) != 1 or dim[0] >= x.ndim - 1:
            return NotImplemented
        found = along(name, x, dim[0])
        return np.expand_dims(found, dim[0]) if keepdim and found is not NotImplemented else found

    def whole(x: Any, dim: int) -> Any:
        return along(name, x, dim) if dim < x.ndim - 1 else NotImplemented

    rows.otherwise = whole if name in _WHOLE else reduced
    return rows

"""Work on many tensors in one launch: the squares of all gradients, all of them times a number, or in another type.

As in updates.py, a table says where the tensors lie, and each program takes a piece of one.
"""

from __future__ import annotations

import threading
from sys import getrefcount
from typing import Any

import cupy
import numpy as np
from cupy.cuda import get_current_stream

from .. import captures
from ..cuda.arrays import new, over, strided
from ..cuda.capture import from_host
from ..flat import in_order
from ..registry import offer
from .build import FLOATS, Kernel, Launch
from .elements import _TYPES, compiled
from .updates import PIECE, Table

_HEAD = """    program = tl.program_id(0)
    which = tl.load(tensor_of + program)
    at = tl.load(begin_of + program) + tl.arange(0, B)
    inside = at < tl.load(sizes + which)
    place = tl.load(pointers + which).to(tl.pointer_type({kind})) + at
    x = tl.load(place, mask=inside, other=0.0)
"""
_SQUARES = "def kernel(pointers, sizes, tensor_of, begin_of, out, B: tl.constexpr):\n" + _HEAD
_SQUARES += "    x = x.to(tl.float64)\n    tl.atomic_add(out + which, tl.sum(x * x, 0))\n"
_SCALED = "def kernel(pointers, sizes, tensor_of, begin_of, factor, B: tl.constexpr):\n" + _HEAD
_SCALED += "    tl.store(place, (x.to(tl.float32) * tl.load(factor)).to({kind}), mask=inside)\n"

_CAST = "def kernel(pointers, sizes, tensor_of, begin_of, places, out, B: tl.constexpr):\n" + _HEAD
_CAST += "    tl.store(out + tl.load(places + which) + at, x.to(out.dtype.element_ty), mask=inside)\n"

# Every so-manieth element of each: `sizes` of them, `steps` apart.
_SAMPLES = "def kernel(pointers, sizes, tensor_of, begin_of, steps, places, out, B: tl.constexpr):\n"
_SAMPLES += _HEAD.replace("({kind})) + at", "({kind})) + at * tl.load(steps + which)")
_SAMPLES += "    tl.store(out + tl.load(places + which) + at, x.to(tl.float32), mask=inside)\n"

_kernels: dict[Any, Kernel] = {}
_tables: dict[Any, Table] = {}


def _kernel(text: str, kind: Any) -> Kernel:
    kernel = _kernels.get((text, kind))
    if kernel is None:
        kernel = _kernels[text, kind] = compiled(text.format(kind=_TYPES[kind.name]), warps=8)
    return kernel


def _launched(text: str, arrays: list[Any], number: Any) -> None:
    kind = arrays[0].dtype
    kernel = _kernel(text, kind)
    sizes = tuple([x.size for x in arrays])
    table = _tables.get((sizes, kind))
    if table is None:
        if len(_tables) > 64:
            _tables.clear()
        table = _tables[sizes, kind] = Table(sizes)
    table.point_to(arrays)
    kernel.launch((table.programs,), (table.pointers, table.sizes, table.tensor_of, table.begin_of, number), B=PIECE)


def _accepts(arrays: list[Any], *_: Any) -> bool:
    kind = arrays[0].dtype
    return (
        kind in FLOATS
        and kind.itemsize <= 4
        and all(x.dtype == kind and x.size and (x._c_contiguous or in_order(x)._c_contiguous) for x in arrays)
    )


@offer("squares_of_all", "triton", accepts=_accepts)
def squares_of_all(arrays: list[Any]) -> Any:
    """The sum of the squares of each array, in float64."""
    out = cupy.zeros((len(arrays),), np.float64)
    _launched(_SQUARES, arrays, out)
    return out


@offer("total_norm", "triton", accepts=lambda arrays, order: order == 2.0 and _accepts(arrays))
def total_norm(arrays: list[Any], order: float) -> Any:
    """The norm of all elements of all arrays; it stays on the GPU."""
    return cupy.sqrt(squares_of_all(arrays).sum())


@offer("scale_all", "triton", accepts=_accepts)
def scale_all(arrays: list[Any], factor: Any) -> None:
    """All arrays times a number of the GPU, in place."""
    _launched(_SCALED, arrays, factor.astype(np.float32) if factor.dtype != np.float32 else factor)


def _references_of_one_in_a_list() -> int:
    """How many references Python counts of an array that a list holds and nobody else; it depends on the version."""
    return max(map(getrefcount, [object()]))


class _Casts:
    """Arrays of known shapes and strides in another type: parts of one piece of memory, made and filled at once."""

    def __init__(self, arrays: list[Any], dtype: Any) -> None:
        self.kind, self.arrays = dtype, []
        begins, end = [], 0
        for x in arrays:
            strides = None if x._c_contiguous else tuple([s // x.itemsize * dtype.itemsize for s in x.strides])
            self.arrays.append((end * dtype.itemsize, x.shape, strides))
            begins.append(end)
            end += -(-x.size // _APART) * _APART
        self.size = end
        self.table = Table([x.size for x in arrays])
        self.begins = from_host(np.asarray(begins, np.int64))
        # What was given out last, on which stream, and how many references its memory had then.
        self.last: tuple[Any, ...] = (None, ())
        self.lock = threading.Lock()
        self.launch = Launch(_kernel(_CAST, arrays[0].dtype), (self.table.programs,), B=PIECE)

    def __call__(self, arrays: list[Any]) -> list[Any]:
        table = self.table
        with self.lock:
            table.point_to(arrays)
            whole, parts = self._unused()
            self.launch.run(table.pointers, table.sizes, table.tensor_of, table.begin_of, self.begins, whole)
            return parts

    def _unused(self) -> tuple[Any, list[Any]]:
        """Memory and its parts: those of the last time, if nobody holds any of them."""
        if captures.current() is not None:
            whole = new((self.size,), self.kind)
            return whole, self._parts(whole.data)
        stream = get_current_stream().ptr
        whole, made, *then = self.last
        if whole is None or then != [stream, getrefcount(whole.data.mem)] or max(map(getrefcount, made)) > _UNUSED:
            whole = new((self.size,), self.kind)
            made = self._parts(whole.data)
            if whole.nbytes <= _LITTLE:
                self.last = whole, made, stream, getrefcount(whole.data.mem)
        return whole, list(made)

    def _parts(self, memory: Any) -> list[Any]:
        kind = self.kind
        return [
            over(shape, kind, memory + begin) if strides is None else strided(shape, kind, memory + begin, strides)
            for begin, shape, strides in self.arrays
        ]


_LITTLE = 32 << 20  # bytes that are kept for the next time: nobody holds them then, and it comes with every step
_UNUSED = _references_of_one_in_a_list()
_APART = 64  # arrays begin at multiples of so many elements
_casts: dict[Any, _Casts] = {}


def _accepts_casts(arrays: list[Any], dtype: Any) -> bool:
    return len(arrays) > 1 and dtype in FLOATS and _accepts(arrays)


@offer("cast_all", "triton", accepts=_accepts_casts)
def cast_all(arrays: list[Any], dtype: Any) -> list[Any]:
    """All arrays in another floating type, laid out as they are."""
    key = (arrays[0].dtype, dtype, *[(x.shape, x._c_contiguous or x.strides) for x in arrays])
    casts = _casts.get(key)
    if casts is None:
        if len(_casts) > 64:
            _casts.clear()
        casts = _casts[key] = _Casts(arrays, dtype)
    return casts(arrays)


class _Samples:
    """Samples of arrays of known sizes, one after the other in one array."""

    def __init__(self, arrays: list[Any], count: int) -> None:
        steps = [max(1, x.size // count) for x in arrays]
        self.sizes = [-(-x.size // step) for x, step in zip(arrays, steps, strict=True)]
        places = np.concatenate(([0], np.cumsum(self.sizes[:-1])))
        self.table, self.total = Table(self.sizes), sum(self.sizes)
        self.steps, self.places = from_host(np.asarray(steps, np.int64)), from_host(places.astype(np.int64))
        self.launch = Launch(_kernel(_SAMPLES, arrays[0].dtype), (self.table.programs,), B=PIECE)

    def __call__(self, arrays: list[Any]) -> tuple[Any, list[int]]:
        out, table = new((self.total,), np.dtype(np.float32)), self.table
        table.point_to(arrays)
        self.launch.run(table.pointers, table.sizes, table.tensor_of, table.begin_of, self.steps, self.places, out)
        return out, self.sizes


_samples: dict[Any, _Samples] = {}


@offer("samples_of_all", "triton", accepts=_accepts)
def samples_of_all(arrays: list[Any], count: int) -> Any:
    """About `count` elements of each array, evenly taken, in float32, one after the other; and how many of each."""
    key = (tuple([x.size for x in arrays]), arrays[0].dtype, count)
    found = _samples.get(key)
    if found is None:
        if len(_samples) > 16:
            _samples.clear()
        found = _samples[key] = _Samples(arrays, count)
    return found(arrays)

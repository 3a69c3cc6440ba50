"""Copies in another order: squares are transposed in registers, so that both sides are read and written along their memory.

    x.t().contiguous(), x.permute(0, 2, 3, 1).contiguous()

The last dimension of the copy lies apart in the source; another one, `along`, lies together there. All others are counted through.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from .. import threads
from ..layout import channels_last
from ..portable.shapes.rearrange import clone
from ..registry import offer
from . import build, machine
from .copying import LEAST, copied
from .places import address
from .pool import all_chunks
from .products.tiles import transposed
from .text import Function, module, with_lanes

GRAIN = 1 << 14  # elements that are worth a thread
_MOST = 3  # dimensions that are counted through
# Source and target; sizes of `along` and the last dimension; how far they are in the source (the last) and in the target (along), in elements;
# and of the others: how many strips there are in all, their sizes, how far they are in both.
_FIELDS = (
    "source", "target", "along", "last", "last_step", "along_step", "strips", "per", "parallel",
    "size0", "size1", "size2", "from0", "from1", "from2", "to0", "to1", "to2",
)  # fmt: skip
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_POINTERS = ("source", "target", "parallel")


def _get(f: Function, name: str) -> str:
    return f.load("ptr" if name in _POINTERS else "i64", f.element("%context", str(_PLACE[name]), "i64"))


def _chunk(size: int, lanes: int) -> Function:
    """Some strips: so many lanes of `along`, and all of the last dimension."""
    f = Function("turn_chunk", "void", "ptr context", "i64 number", linkage="internal")
    scalar = f"i{8 * size}"
    type_ = with_lanes(lanes, scalar)
    along, last, last_step, along_step = (_get(f, each) for each in ("along", "last", "last_step", "along_step"))
    per_matrix = f.op("sdiv", "i64", f.op("add", "i64", along, str(lanes - 1)), str(lanes))
    first = f.op("mul", "i64", "%number", _get(f, "per"))
    after = f.op("add", "i64", first, _get(f, "per"))
    end = f.call("llvm.smin.i64", "i64", f"i64 {after}", f"i64 {_get(f, 'strips')}")
    with f.counted(first, end) as strip:
        rest, a = (f.op(word, "i64", strip, per_matrix) for word in ("sdiv", "srem"))
        a = f.op("mul", "i64", a, str(lanes))
        source, target = f.variable("i64", a), f.variable("i64", f.op("mul", "i64", a, along_step))
        left = f.variable("i64", rest)
        for d in range(_MOST):
            count = _get(f, f"size{d}")
            at = f.op("srem", "i64", left.get(), count)
            left.set(f.op("sdiv", "i64", left.get(), count))
            for place, step in ((source, f"from{d}"), (target, f"to{d}")):
                place.set(f.op("add", "i64", place.get(), f.op("mul", "i64", at, _get(f, step))))
        near = f.element(_get(f, "source"), source.get(), scalar)
        far = f.element(_get(f, "target"), target.get(), scalar)
        rows = f.call("llvm.smin.i64", "i64", f"i64 {f.op('sub', 'i64', along, a)}", f"i64 {lanes}")
        done = f.variable("i64", "0")
        with f.when(f.op("icmp eq", "i64", rows, str(lanes))), f.forever() as out:
            j = done.get()
            further = f.op("add", "i64", j, str(lanes))
            f.leave_when(f.op("icmp sgt", "i64", further, last), out)
            square = [
                f.load(
                    type_, f.element(near, f.op("mul", "i64", f.op("add", "i64", j, str(k)), last_step), scalar), size
                )
                for k in range(lanes)
            ]
            for k, row in enumerate(transposed(f, type_, square)):
                place = f.op("add", "i64", f.op("mul", "i64", along_step, str(k)), j)
                f.store(type_, row, f.element(far, place, scalar), size)
            done.set(further)
        with f.counted(done.get(), last) as j, f.counted("0", rows) as k:
            value = f.load(
                scalar, f.element(near, f.op("add", "i64", f.op("mul", "i64", j, last_step), k), scalar), size
            )
            place = f.op("add", "i64", f.op("mul", "i64", k, along_step), j)
            f.store(scalar, value, f.element(far, place, scalar), size)
    f.end()
    return f


def _run() -> Function:
    f = Function("turn", "void", "ptr context", "i64 chunks")
    all_chunks(f, "turn_chunk", "%context", "%chunks", _get(f, "parallel"), machine.x86())
    f.end()
    return f


@functools.cache
def _function(size: int) -> Any:
    """The function for elements of so many bytes, compiled at first use; None where there is none."""
    try:
        engine = machine.compiled(module([_chunk(size, machine.processor()[1] // size), _run()]))
    except machine.NoCompiler:
        return None
    return machine.callable_at(machine.address(engine, "turn"), None, ctypes.c_void_p, ctypes.c_int64)


def _joined(x: Any) -> list[list[int]]:
    """Dimensions that matter, as [size, step in the source, step in the target] in elements; neighbours that are one in both are joined."""
    found: list[list[int]] = []
    step = 1
    for n, stride in zip(reversed(x.shape), reversed(x.strides), strict=True):
        if n > 1:
            if found and stride == found[-1][0] * found[-1][1] * x.itemsize:
                found[-1][0] *= n
            else:
                found.append([n, stride // x.itemsize, step])
        step *= n
    return found


def turned(x: Any) -> Any:
    """A copy in rows; None where this is not the way."""
    size = x.itemsize
    if size not in (4, 8) or any(stride <= 0 or stride % size for stride in x.strides) or x.dtype.hasobject:
        return None
    last, *others = _joined(x)
    inner = [d for d in others if d[1] == 1]
    if len(inner) != 1 or not others or len(others) - 1 > _MOST or last[1] == 1 or min(last[0], inner[0][0]) < 4:
        return None
    (along,) = inner
    run = _function(size)
    if run is None:
        return None
    out = np.empty(x.shape, x.dtype)
    rest = [d for d in others if d is not along]
    rest += [[1, 0, 0]] * (_MOST - len(rest))
    strips = -(-along[0] // (machine.processor()[1] // size)) * rest[0][0] * rest[1][0] * rest[2][0]
    count = max(1, min(threads.number(), x.size // GRAIN, strips))
    per = -(-strips // count)
    words = [address(x), address(out), along[0], last[0], last[1], along[2], strips, per, build.running().parallel]
    words += [d[k] for k in range(3) for d in rest]
    context = (ctypes.c_int64 * len(_FIELDS))(*words)
    run(ctypes.addressof(context), -(-strips // per))
    return out


def _clone(x: Any, order: str) -> Any:
    if order == "C" and not x.flags.c_contiguous:
        found = turned(x)
        if found is not None:
            return found
    elif order != "channels_last" and x.flags.c_contiguous and x.nbytes >= LEAST and not channels_last(x):
        out = np.empty(x.shape, x.dtype)
        if copied(out, x, True):
            return out
    return clone(np, x, order)


def make(least: int) -> None:
    """Make all offers."""
    offer("clone", "llvm", _clone, least=least)

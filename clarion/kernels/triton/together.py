"""Work on many tensors in one launch: the squares of all gradients, and all of them times a number.

As in updates.py, a table says where the tensors lie, and each program takes a piece of one.
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..flat import in_order
from ..registry import offer
from .build import FLOATS, Kernel
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

_kernels: dict[Any, Kernel] = {}
_tables: dict[Any, Table] = {}


def _launched(text: str, arrays: list[Any], number: Any) -> None:
    kind = arrays[0].dtype
    kernel = _kernels.get((text, kind))
    if kernel is None:
        kernel = _kernels[text, kind] = compiled(text.format(kind=_TYPES[kind.name]), warps=8)
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

"""Products of bfloat16 by the processor's own instruction, which multiplies pairs of neighbours along k and adds up in float32.

Where k is the dimension whose numbers are adjacent, an operand is read as it lies: two numbers as one of 32 bits. Elsewhere rows are
woven together two by two, in one pass. Results are rounded once.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .... import config
from ...halved import KERNELS
from ...portable.products.matmul import _rows
from ...registry import raw
from .. import build, machine, ufuncs
from ..plan import plan
from ..rounding import BF16, BITS, F32
from ..text import Function, literal, module, with_lanes
from .calls import products_of_pairs

LEAST = 1 if config.COMPILE == "all" else 1 << 15  # multiplications from which a product is worth the call
WORDS = np.dtype(np.uint32)
_LANES, _GRAIN = 16, 1 << 14


def _weaving() -> str:
    """The module with the body of a loop that makes one word of two numbers, the first below."""
    f = Function("body", "void", "i64 count", "ptr places", "ptr steps")
    short, words = with_lanes(_LANES, "i16"), with_lanes(_LANES, "i32")
    places = [f.variable("ptr", f.load("ptr", f.element("%places", str(k), "ptr"))) for k in range(3)]
    steps = [f.load("i64", f.element("%steps", str(k), "i64")) for k in range(3)]
    with f.counted("0", "%count"):
        now = [place.get() for place in places]
        low, high = (f.cast("zext", short, f.load(short, place, 2), words) for place in now[:2])
        f.store(words, f.op("or", words, low, f.op("shl", words, high, literal(words, 16))), now[2], 4)
        for place, at, step in zip(places, now, steps, strict=True):
            place.set(f.offset(at, step))
    f.end()
    return module([f])


@functools.cache
def _weave() -> Any:
    place = machine.address(machine.compiled(_weaving()), "body")
    return ufuncs.make(
        "weave", build.running().elements, plan(place, 2, [2, 2, 4], _LANES, _GRAIN), [BITS, BITS, WORDS], 2
    )


def _paired(x: Any, axis: int) -> Any:
    """Pairs of neighbours along an axis (-1 or -2), as float32."""
    if x.strides[axis] == 2 and not any(step % 4 for k, step in enumerate(x.strides) if k != x.ndim + axis):
        turned = x if axis == -1 else x.swapaxes(-1, -2)
        if turned.ctypes.data % 4 == 0:
            pairs = np.lib.stride_tricks.as_strided(
                turned.view(BITS)[..., :2].view(F32),
                (*turned.shape[:-1], turned.shape[-1] // 2),
                (*turned.strides[:-1], 4),
            )
            return pairs if axis == -1 else pairs.swapaxes(-1, -2)
    turned = (x if axis == -2 else x.swapaxes(-1, -2)).view(BITS)
    pairs = woven(turned[..., 0::2, :], turned[..., 1::2, :])
    return pairs if axis == -2 else pairs.swapaxes(-1, -2)


def woven(low: Any, high: Any) -> Any:
    """Pairs of the numbers of two arrays, given as bits, as float32."""
    return _weave()(low, high).view(F32)


def product(x: Any, y: Any, bias: Any = None) -> Any:
    """x @ y (and a number for each column), of matrices or batches of one shape."""
    k = x.shape[-1]
    if x.dtype != BF16 or y.dtype != BF16 or k % 2 or k != y.shape[-2] or x.shape[:-2] != y.shape[:-2]:
        return NotImplemented
    if not 2 <= x.ndim <= 4 or x.size * y.shape[-1] < LEAST or (bias is not None and bias.shape != y.shape[1:]):
        return NotImplemented
    made = products_of_pairs()
    if made is None:
        return NotImplemented
    one, other = _paired(x, -1), _paired(y, -2)
    if bias is not None:
        return raw.cast(made.with_bias(one, other, raw.cast(np.ascontiguousarray(bias), F32)), BF16)
    return raw.cast((made.matrices, made.batch, made.batches)[x.ndim - 2](one, other), BF16)


def _fold(x: Any, y: Any, bias: Any = None) -> Any:
    """The same with any number of leading dimensions."""
    if y.ndim != 2 or not x.ndim or not x.size:
        return NotImplemented
    out = product(_rows(x), y, bias)
    return out if out is NotImplemented or x.ndim == 2 else out.reshape(*x.shape[:-1], y.shape[1])


def _fold_tn(x: Any, y: Any) -> Any:
    return product(_rows(x).T, _rows(y)) if x.size and y.size else NotImplemented


def make() -> None:
    """Kernels by the names of their operations. (Nobody asks for the processor before one is called.)"""
    found = {
        "fold_mm mm": _fold, "fold_nt mm_nt": lambda x, y: _fold(x, y.swapaxes(-1, -2)), "fold_tn": _fold_tn,
        "linear linear_rows": lambda x, w, b: _fold(x, w.T, b), "matmul bmm": product,
        "matmul_nt": lambda x, y: product(x, y.swapaxes(-1, -2)), "matmul_tn": lambda x, y: product(x.swapaxes(-1, -2), y),
    }  # fmt: skip
    for names, function in found.items():
        KERNELS.update(dict.fromkeys(names.split(), function))

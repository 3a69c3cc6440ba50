"""Small matrix products: one launch each, and one for all gradients of a linear layer.

cuBLASLt takes 10 µs of the host's time for a product, whatever its size, and a second launch where it divides a long sum. What
the GPU does in less than that is launched from here; everything larger is cuBLASLt's (kernels/cuda/products.py).
"""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from .. import precision
from ..choosing import always
from ..cuda import cublaslt, products
from ..cuda.arrays import new, over
from ..cuda.products import fold_mm, fold_tn
from ..registry import offer, raw
from . import products_text as text
from .build import Kernel, Launch

_product, _gradients = Kernel(text.product), Kernel(text.linear_gradients)
_HALF = (np.dtype(np.float16), np.dtype(bfloat16))
_SINGLE = np.dtype(np.float32)
_TYPES = (*_HALF, _SINGLE)
_MOST = 1 << 26  # multiplications of a small product,
_LONGEST = 1024  # and the terms that one program sums


def is_small(m: int, n: int, k: int) -> bool:
    """Is it over sooner than it is launched by a library?"""
    return m * n * k <= _MOST and k <= _LONGEST


def _precision(kind: Any) -> str:
    return "tf32" if kind.itemsize == 4 and precision.products else "ieee"


def _tile(kind: Any, m: int, n: int) -> tuple[int, int, int]:
    """Rows and columns of a tile and the terms of a step: as large as the matrix cores like them, where there are enough tiles."""
    if kind.itemsize == 4:
        return 32, 32, 32
    return (64, 64, 64) if m * n >= 64 * 64 * 32 else (32, 32, 64)


class Small:
    """The launch of a product of two matrices that lie in one way."""

    def __init__(self, a: Any, b: Any, bias: bool) -> None:
        (m, k), n = a.shape, b.shape[1]
        (turned_a, step_a), (turned_b, step_b) = cublaslt.layout(a), cublaslt.layout(b)  # type: ignore[misc]
        rows, columns, terms = _tile(a.dtype, m, n)
        modes = {"TURNED_A": turned_a, "TURNED_B": turned_b, "BIAS": bias, "PRECISION": _precision(a.dtype)}
        grid = (-(-m // rows), -(-n // columns))
        self.launch = Launch(_product, grid, (m, n, k, step_a, step_b), **modes, M=rows, N=columns, K=terms)

    def run(self, a: Any, b: Any, out: Any, vector: Any = None) -> None:
        """Multiply arrays that lie as those it was made for."""
        self.launch.run(a, b, a if vector is None else vector, out)


def small(a: Any, b: Any, bias: bool) -> Small | None:
    """A launch for this product, if it is a small one of a type that is known here."""
    if a.dtype not in _TYPES or not is_small(a.shape[0], b.shape[1], a.shape[1]):
        return None
    return Small(a, b, bias)


class _Gradients:
    """The launch for all gradients of a linear layer, for gradients and operands of known shapes and types."""

    def __init__(self, g: Any, x: Any, w: Any, needs: Any, wide: Any) -> None:
        rows, n = g.size // g.shape[-1], g.shape[-1]
        k = (x if w is None else w).shape[-1] if x is not None or w is not None else 1
        kind = (x if w is None else w).dtype if x is not None or w is not None else g.dtype
        self.kind, self.rows = kind, rows
        self.of_w, self.of_b = _SINGLE if wide[0] else kind, _SINGLE if wide[1] else kind
        self.x_shape, self.w_shape, self.b_shape = (*g.shape[:-1], k), (n, k), (n,)
        self.needs = needs
        self.begin = -(-n * k * self.of_w.itemsize // 16) * 16  # where the bias's begins
        self.end = self.begin + n * self.of_b.itemsize
        tile_m, tile_n = (32, 32) if kind.itemsize == 4 else (64, 64) if rows * k >= 64 * 64 * 8 else (32, 64)
        across = -(-k // tile_n)
        programs = -(-rows // tile_m) * across if needs[0] else 0
        if needs[1] or needs[2]:
            programs += -(-n // tile_m) * (across if needs[1] else 1)
        modes = {"X": needs[0], "W": needs[1], "B": needs[2], "PRECISION": _precision(kind), "M": tile_m, "N": tile_n}
        self.launch = Launch(_gradients, (programs,), (rows, n, k), **modes)

    def __call__(self, g: Any, x: Any, w: Any) -> Any:
        of_x, of_w, of_b = self.needs
        gx = new(self.x_shape, self.kind) if of_x else None
        if of_w and of_b:  # in one piece of memory: to ask for one takes longer than to point into it
            memory = cupy.cuda.alloc(self.end)
            gw = over(self.w_shape, self.of_w, memory)
            gb = over(self.b_shape, self.of_b, memory + self.begin)
        else:
            gw = new(self.w_shape, self.of_w) if of_w else None
            gb = new(self.b_shape, self.of_b) if of_b else None
        self.launch.run(
            g, g if x is None else x, g if w is None else w, gx if of_x else g, gw if of_w else g, gb if of_b else g
        )
        return gx, gw, gb


_plans: dict[Any, _Gradients | None] = {}


def _plan(key: Any, g: Any, x: Any, w: Any, needs: Any, wide: Any) -> _Gradients | None:
    rows, n = g.size // g.shape[-1] if g.size else 0, g.shape[-1]
    operands = [each for each in (x, w) if each is not None]
    fits = rows and all(each._c_contiguous and each.dtype in _TYPES for each in (g, *operands)) and operands
    k = operands[0].shape[-1] if fits else 0
    fits = fits and is_small(rows, k, n) and is_small(n, k, rows) and len({each.dtype for each in operands}) == 1
    if len(_plans) > 4096:
        _plans.clear()
    found = _plans[key] = _Gradients(g, x, w, needs, wide) if fits else None
    return found


_MISSING: Any = object()


@offer("linear_gradients", "triton", accepts=always)
def linear_gradients(g: Any, x: Any, w: Any, needs: Any, wide: Any) -> Any:
    """Of input, weight and bias: one launch for what is small. (`wide`: in float32, where that costs nothing.)"""
    key = (
        g.shape, g.dtype, g._c_contiguous, x is None or (x.dtype, x.shape[-1], x._c_contiguous),
        w is None or (w.dtype, w.shape, w._c_contiguous), needs, wide, precision.products,
    )  # fmt: skip
    plan = _plans.get(key, _MISSING)
    if plan is _MISSING:
        plan = _plan(key, g, x, w, needs, wide)
    return _large(g, x, w, needs) if plan is None else plan(g, x, w)


def _large(g: Any, x: Any, w: Any, needs: Any) -> Any:
    """By cuBLASLt, one after the other; NotImplemented for what it does not multiply."""
    kind = x.dtype if w is None and x is not None else g.dtype if w is None else w.dtype
    if g.dtype != kind:
        g = raw.cast(g, kind)
    found = (
        fold_mm(g, w) if needs[0] else None,
        fold_tn(g, x) if needs[1] else None,
        raw.sum_rows(g) if needs[2] else None,
    )
    return NotImplemented if any(each is NotImplemented for each in found) else found


products.small_product = small

"""Attention in tiles on the GPU: which tiles, which strides. The kernels stand in attention_text.py."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..registry import offer
from . import attention_text as text
from .build import Kernel

_LOG2_E = 1.4426950408889634
_WIDTHS = (16, 32, 64, 128)  # of heads: Triton's tiles are powers of two

_forward = Kernel(text.forward)
_dots = Kernel(text.dots)
_keys = Kernel(text.backward_keys)
_queries = Kernel(text.backward_queries)


def _accepts(q: Any, k: Any, v: Any, mask: Any, *rest: Any) -> bool:
    """Four dimensions, heads of a width that tiles have, rows that lie densely, in a type with tensor cores or float32."""
    return (
        q.ndim == 4
        and q.shape[-1] in _WIDTHS
        and v.shape[-1] == q.shape[-1]
        and q.dtype.itemsize <= 4
        and all(x.strides[-1] == x.itemsize for x in (q, k, v))
        and (mask is None or mask.ndim <= 4)
        and q.size > 0
        and k.size > 0
    )


def _accepts_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any
) -> bool:
    return not needs[3] and _accepts(q, k, v, mask)


def _steps(x: Any) -> tuple[int, ...]:
    """Distances of batches, heads and rows, in elements."""
    return tuple([s // x.itemsize for s in x.strides[:3]])


def _mask_of(mask: Any, q: Any) -> tuple[Any, tuple[int, ...], int]:
    """The mask's memory, its distances (0 where it is broadcast), and how it is meant."""
    if mask is None:
        return q, (0, 0, 0, 0), 0
    steps = [0] * (4 - mask.ndim) + [
        0 if n == 1 else s // mask.itemsize for n, s in zip(mask.shape, mask.strides, strict=True)
    ]
    kind = 2 if mask.dtype.kind == "b" else 1
    return mask.view(np.int8) if kind == 2 else mask, tuple(steps), kind


def _tile(width: int, size: int) -> tuple[int, int, int]:
    """Queries and keys of a tile, and warps: what fits into shared memory."""
    if size == 4:
        return (64, 32, 4) if width <= 64 else (32, 32, 4)
    return (64, 64, 4) if width <= 64 else (128, 64, 8)


@offer("tiled_attention", "triton", accepts=_accepts)
def tiled_attention(q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The result, laid out as the queries are, and the log-sum-exp of each query's scores."""
    batch, heads, rows, width = q.shape
    out = cupy.empty_like(q)
    lse = cupy.empty((batch, heads, rows), np.float32)
    memory, steps, kind = _mask_of(mask, q)
    m, n, warps = _tile(width, q.itemsize)
    _forward.launch(
        (-(-rows // m), batch * heads),
        (q, k, v, out, lse, memory, 0, 0.0, float(scale * _LOG2_E), rows, k.shape[-2], heads,
         *_steps(q), *_steps(k), *_steps(v), *_steps(out), *steps),
        CAUSAL=causal, MASK=kind, DROP=False, D=width, M=m, N=n, num_warps=warps,
    )  # fmt: skip
    return out, lse


def _like_all(q: Any, k: Any, v: Any) -> tuple[Any, Any, Any]:
    """New arrays laid out as these; parts of one array, if these are."""
    batch, heads, rows, width = q.shape
    part = heads * width * q.itemsize
    apart = q.data.ptr + part == k.data.ptr and k.data.ptr + part == v.data.ptr
    steps = (3 * part * rows, width * q.itemsize, 3 * part, q.itemsize)
    if not apart or k.shape != q.shape or not (q.strides == k.strides == v.strides == steps):
        return cupy.empty_like(q), cupy.empty_like(k), cupy.empty_like(v)
    whole = cupy.ndarray((batch, rows, 3, heads, width), q.dtype)
    return tuple([whole[:, :, i].transpose(0, 2, 1, 3) for i in range(3)])  # type: ignore[return-value]


@offer("tiled_attention_backward", "triton", accepts=_accepts_backward)
def tiled_attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any
) -> Any:
    """Gradients of query, key and value."""
    batch, heads, rows, width = q.shape
    keys = k.shape[-2]
    if g.strides[-1] != g.itemsize or g.dtype != q.dtype:
        g = cupy.ascontiguousarray(g, q.dtype)
    gq, gk, gv = _like_all(q, k, v)
    delta = cupy.empty((batch, heads, rows), np.float32)
    memory, steps, kind = _mask_of(mask, q)
    _dots.launch(
        (-(-rows // 128), batch * heads), (g, out, delta, rows, heads, *_steps(g), *_steps(out)), D=width, M=128
    )
    m, n, warps = (64, 64, 4) if q.itemsize == 2 else (32, 32, 4)
    shared = (
        0,
        0.0,
        float(scale),
        float(scale * _LOG2_E),
        rows,
        keys,
        heads,
        *_steps(q),
        *_steps(k),
        *_steps(v),
        *_steps(g),
    )
    modes = {"CAUSAL": causal, "MASK": kind, "DROP": False, "D": width, "M": m, "N": n, "num_warps": warps}
    _keys.launch(
        (-(-keys // n), batch * heads),
        (q, k, v, g, gk, gv, lse, delta, memory, *shared, *_steps(gk), *_steps(gv), *steps),
        **modes,
        num_stages=2,
    )
    _queries.launch(
        (-(-rows // m), batch * heads), (q, k, v, g, gq, lse, delta, memory, *shared, *_steps(gq), *steps), **modes
    )
    return gq, gk, gv, None

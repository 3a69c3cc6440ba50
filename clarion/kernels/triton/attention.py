"""Attention in tiles on the GPU: which tiles, which strides. The kernels stand in attention_text.py."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from ..choosing import always
from ..cuda.arrays import laid_out, new, strided
from ..registry import offer
from . import attention_text as text
from .build import Kernel, Launch

_LOG2_E = 1.4426950408889634
_SINGLE = np.dtype(np.float32)
_WIDTHS = (16, 32, 64, 128)  # of heads: Triton's tiles are powers of two

_forward = Kernel(text.forward)
_dots = Kernel(text.dots)
_keys = Kernel(text.backward_keys)
_queries = Kernel(text.backward_queries)
_whole = Kernel(text.backward_whole)
_FEW = 64  # queries and keys that fit into one tile


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


class _Forward:
    """The launch for queries, keys, values and a mask that lie in one way."""

    def __init__(self, q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool, p: float) -> None:
        batch, heads, rows, width = q.shape
        self.shape, self.kind, self.out, self.lse = q.shape, q.dtype, _laid(q), (batch, heads, rows)
        _, steps, kind = _mask_of(mask, q)
        m, n, warps = _tile(width, q.itemsize)
        numbers = (float(p), float(scale * _LOG2_E), rows, k.shape[-2], heads)
        numbers += (*_steps(q), *_steps(k), *_steps(v), *_steps(cupy.empty_like(q)), *steps)
        modes = {"CAUSAL": causal, "MASK": kind, "DROP": p > 0, "D": width, "M": m, "N": n, "num_warps": warps}
        self.launch = Launch(_forward, (-(-rows // m), batch * heads), numbers, **modes)

    def __call__(self, q: Any, k: Any, v: Any, mask: Any, ticket: Any) -> tuple[Any, Any]:
        out, lse = laid_out(self.shape, self.kind, *self.out), new(self.lse, _SINGLE)
        memory = q if mask is None else _mask_of(mask, q)[0]
        self.launch.run(q, k, v, out, lse, memory, q if ticket is None else ticket)
        return out, lse


def _power(n: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << (n - 1).bit_length()


def _laid(x: Any) -> tuple[Any, int]:
    """Strides and size of a new array that lies as x does, without gaps."""
    like = cupy.empty_like(x)
    return None if like._c_contiguous else like.strides, like.nbytes


_plans: dict[Any, Any] = {}


def _plan(make: Any, key: Any, *args: Any) -> Any:
    found = _plans.get(key)
    if found is None:
        if len(_plans) > 1024:
            _plans.clear()
        found = _plans[key] = make(*args)
    return found


def _laid_out(mask: Any) -> Any:
    """What a launch depends on of a mask."""
    return None if mask is None else (mask.shape, mask.strides, mask.dtype)


@offer("tiled_attention", "triton", accepts=always)
def tiled_attention(q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The result, laid out as the queries are, and the log-sum-exp of each query's scores."""
    return _attended(q, k, v, mask, None, scale, causal, 0.0)


@offer("dropped_attention", "triton", accepts=always)
def dropped_attention(q: Any, k: Any, v: Any, mask: Any, ticket: Any, scale: float, causal: bool, p: float) -> Any:
    """The same, of probabilities of which dropout leaves out some: which ones, `ticket` decides."""
    return _attended(q, k, v, mask, ticket, scale, causal, p)


def _attended(q: Any, k: Any, v: Any, mask: Any, ticket: Any, scale: float, causal: bool, p: float) -> Any:
    masked = None if mask is None else _laid_out(mask)
    key = (q.shape, q.strides, k.shape, k.strides, v.shape, v.strides, q.dtype, masked, scale, causal, p)
    plan = _plans.get(key)
    if plan is None:
        if not _accepts(q, k, v, mask):
            return NotImplemented
        plan = _plan(_Forward, key, q, k, v, mask, scale, causal, p)
    return plan(q, k, v, mask, ticket)


class _Backward:
    """The launch of the backward pass for arrays that lie in one way, of few queries and keys; of more, the three launches."""

    def __init__(
        self, g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, scale: float, causal: bool, p: float
    ) -> None:
        batch, heads, rows, width = q.shape
        keys = k.shape[-2]
        self.shape, self.kind, self.delta = q.shape, q.dtype, (batch, heads, rows)
        self.apart = [_laid(x) for x in (q, k, v)]
        part = heads * width * q.itemsize
        steps = (3 * part * rows, width * q.itemsize, 3 * part, q.itemsize)
        # Query, key and value may be parts of one array: then their gradients are, too.
        self.together = k.shape == q.shape and q.strides == k.strides == v.strides == steps
        self.part, self.strides = part, steps
        self.size = 3 * part * rows * batch
        self.few = max(rows, keys) <= _FEW
        of_dots = (rows, heads, *_steps(g), *_steps(out))
        self.dots = Launch(_dots, (-(-rows // 128), batch * heads), of_dots, D=width, M=128)
        _, mask_steps, kind = _mask_of(mask, q)
        m, n, warps = (64, 64, 4) if q.itemsize == 2 else (32, 32, 4)
        numbers = (float(p), float(scale), float(scale * _LOG2_E), rows, keys, heads)
        numbers += (*_steps(q), *_steps(k), *_steps(v), *_steps(g))
        modes = {"CAUSAL": causal, "MASK": kind, "DROP": p > 0, "D": width, "M": m, "N": n, "num_warps": warps}
        self.launches: list[Any] = []
        for of_q, of_k, of_v in (
            [_steps(cupy.empty_like(x)) for x in (q, k, v)],
            [tuple([s // q.itemsize for s in steps[:3]])] * 3,
        ):
            if self.few:
                modes |= {"M": max(16, _power(rows)), "N": max(16, _power(keys))}
                of_all = (*numbers, *_steps(out), *of_q, *of_k, *of_v, *mask_steps)
                self.launches.append(Launch(_whole, (batch * heads,), of_all, **modes))
                continue
            of_keys = (*numbers, *of_k, *of_v, *mask_steps)
            keyed = Launch(_keys, (-(-keys // n), batch * heads), of_keys, **modes, num_stages=2)
            queried = Launch(_queries, (-(-rows // m), batch * heads), (*numbers, *of_q, *mask_steps), **modes)
            self.launches.append((keyed, queried))

    def _gradients(self, q: Any, k: Any, v: Any) -> tuple[Any, tuple[Any, ...]]:
        """The launches, and new arrays for their results: parts of one array if these are."""
        part = self.part
        if self.together and q.data.ptr + 2 * part == k.data.ptr + part == v.data.ptr:
            memory, shape, kind, steps = cupy.cuda.alloc(self.size), self.shape, self.kind, self.strides
            second = memory + part
            of_q, of_k = strided(shape, kind, memory, steps), strided(shape, kind, second, steps)
            return self.launches[1], (of_q, of_k, strided(shape, kind, second + part, steps))
        apart = zip((q, k, v), self.apart, strict=True)
        return self.launches[0], tuple([laid_out(x.shape, x.dtype, *laid) for x, laid in apart])

    def __call__(self, g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, out: Any, lse: Any) -> tuple[Any, ...]:
        launch, (gq, gk, gv) = self._gradients(q, k, v)
        memory = q if mask is None else _mask_of(mask, q)[0]
        ticket = q if ticket is None else ticket
        if self.few:
            launch.run(q, k, v, g, out, gq, gk, gv, lse, memory, ticket)
            return gq, gk, gv, None
        keyed, queried = launch
        delta = new(self.delta, _SINGLE)
        self.dots.run(g, out, delta)
        keyed.run(q, k, v, g, gk, gv, lse, delta, memory, ticket)
        queried.run(q, k, v, g, gq, lse, delta, memory, ticket)
        return gq, gk, gv, None


@offer("tiled_attention_backward", "triton", accepts=always)
def tiled_attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any
) -> Any:
    """Gradients of query, key and value."""
    return NotImplemented if needs[3] else _gradients(g, q, k, v, mask, None, out, lse, scale, causal, 0.0)


def _gradients(
    g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, out: Any, lse: Any, scale: float, causal: bool, p: float
) -> Any:
    steps, kind = g.strides, q.dtype
    if steps[-1] != kind.itemsize or g.dtype is not kind:
        g = cupy.ascontiguousarray(g, kind)
        steps = g.strides
    masked = None if mask is None else _laid_out(mask)
    own = q.shape, q.strides, k.shape, k.strides, v.shape, v.strides, kind
    key = (own, masked, steps, out.strides, scale, causal, p)
    plan = _plans.get(key)
    if plan is None:
        if not _accepts(q, k, v, mask):
            return NotImplemented
        plan = _plan(_Backward, key, g, q, k, v, mask, out, scale, causal, p)
    return plan(g, q, k, v, mask, ticket, out, lse)


@offer("dropped_attention_backward", "triton", accepts=always)
def dropped_attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, out: Any, lse: Any, scale: float, causal: bool, p: float, needs: Any
) -> Any:  # fmt: skip
    """The same, of probabilities of which dropout has left out some."""
    return NotImplemented if needs[3] else _gradients(g, q, k, v, mask, ticket, out, lse, scale, causal, p)

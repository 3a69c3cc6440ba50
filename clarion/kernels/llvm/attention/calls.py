"""What is offered: attention whose probabilities are kept, attention that computes them twice, and the gradients of both."""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from typing import Any

import numpy as np

from .... import config
from ... import threads
from ...portable.layers.attention import empty_beside
from ...registry import offer
from .. import build, machine
from ..products.calls import F32, F64, products
from ..products.tiles import shape_for
from ..text import module
from .heads import FIELDS, PLACE, functions

LEAST = 1 if config.COMPILE == "all" else 4096  # scores from which it is worth the call
FEW = 16  # heads for which it is in any case: each is a call of its own
SHARED = 1 << 17  # multiplications from which threads share it
ROOM = 192 << 10  # bytes of scores that are computed at a time
_PRODUCT, _KIND, _CAUSAL, _SAFE, _ADDS, _BLOCKS = (
    PLACE[name] for name in ("product", "kind", "causal", "safe", "adds", "blocks")
)
_SCALE_AT, _FACTOR_AT = 8 * PLACE["scale"], 8 * PLACE["factor"]


class Attention:
    """The functions of one type."""

    def __init__(self, dtype: Any, block: int) -> None:
        x86, width = machine.x86(), machine.processor()[1]
        self.shape = shape_for("double" if dtype is F64 else "float", width, x86)
        engine = machine.compiled(module(functions(self.shape, x86)))
        self.forward, self.backward = (
            machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p)
            for name in ("forward", "backward")
        )
        self.block = block


@functools.cache
def _attention(dtype: Any) -> Attention | None:
    """The functions of a type, compiled at first use; None where there are none."""
    made = products(dtype) if dtype is F32 or dtype is F64 else None
    return None if made is None else Attention(dtype, made.block)


def _ready(q: Any, k: Any, v: Any, mask: Any) -> Attention | None:
    """The functions for these arrays, if they are of one type and there is something to compute."""
    dtype = q.dtype
    if dtype is not k.dtype or dtype is not v.dtype or not 2 <= q.ndim <= 4 or not q.ndim == k.ndim == v.ndim:
        return None
    heads = math.prod(q.shape[:-2])
    if not (q.size and k.size and v.size):
        return None
    if heads * q.shape[-2] * k.shape[-2] < LEAST and (heads > FEW or 0 in (*q.strides, *k.strides, *v.strides)):
        return None  # (gradients of what heads share are sums over them: small ones are rounded as PyTorch's)
    if mask is not None and mask.dtype is not dtype and mask.dtype.kind != "b":
        return None
    return _attention(dtype)


Steps = tuple[int, ...]
_Context = ctypes.c_int64 * len(FIELDS)
_SCALE = struct.Struct("<d")


@functools.lru_cache(maxsize=256)
def _fixed(names: tuple[str, ...], steps: tuple[Steps, ...], shape: Steps, keys: int, wide: int, size: int, tile: int,
           backward: bool, count: int) -> bytes:  # fmt: skip
    """What the threads share, but for the arrays and what kind of scores they are."""
    *lead, m, d = shape
    heads = math.prod(lead)
    height = min(m, max(2 * tile, ROOM // (keys * size) // tile * tile))
    values = {"m": m, "n": keys, "d": d, "e": wide, "count": heads, "inner": lead[-1] if lead else 1, "height": height}
    values["blocks"] = blocks = -(-m // height)
    parts = heads if backward else heads * blocks
    much = heads * m * keys * (d + wide) >= SHARED and count > 1
    values["per"] = max(1, parts // (4 * count)) if much else parts
    values["parallel"] = build.running().parallel
    for name, each in zip(names, steps, strict=True):
        for word, step in zip(("outer", "inner", "row", "step"), (0,) * (4 - len(each)) + each, strict=True):
            values[f"{name}_{word}"] = step
    return bytes(_Context(*[values.get(name, 0) for name in FIELDS]))


_NAMES = {True: ("q", "k", "v", "out", "probs"), False: ("q", "k", "v", "out", "total")}
_PLACES = struct.Struct(
    "<8q"
)  # of the first arrays in a context: query, key, value, mask, dropout, result, probabilities, totals
_Plan = tuple[Attention, bytes, Steps]  # the functions, the context after those places, the shape of the second result
_plans: dict[tuple[Any, ...], _Plan] = {}
_MANY_PLANS = 256


def _plan(on: Attention, q: Any, k: Any, v: Any, scale: float, causal: bool, keep: bool) -> _Plan:
    """How attention without mask and dropout is called, for arrays like these."""
    out = _beside(q, v)
    second = np.empty((*q.shape[:-1], k.shape[-2]) if keep else q.shape[:-1], q.dtype)
    steps = q.strides, k.strides, v.strides, out.strides, second.strides if keep else (*second.strides, 0)
    width, tile = v.shape[-1], on.shape.rows
    fixed = _fixed(_NAMES[keep], steps, q.shape, k.shape[-2], width, q.itemsize, tile, False, _threads(q, k, v))
    context = _Context.from_buffer_copy(fixed)
    context[_PRODUCT], context[_CAUSAL], context[_SAFE] = on.block, causal, causal
    _SCALE.pack_into(context, _SCALE_AT, scale)
    return on, bytes(context)[_PLACES.size :], second.shape


def _threads(q: Any, k: Any, v: Any) -> int:
    """How many threads there are, if there is work for them: to ask takes a tenth of a small call."""
    d = q.shape[-1] or 1
    return threads.number() if q.size // d * k.shape[-2] * (d + v.shape[-1]) >= SHARED else 1


def _plainly(q: Any, k: Any, v: Any, scale: float, causal: bool, keep: bool) -> Any:
    """Without mask and dropout: with few queries, to look at all that may be takes longer than to compute it, so plans are kept."""
    key = (
        q.dtype, k.dtype, v.dtype, q.shape, k.shape, v.shape, q.strides, k.strides, v.strides, scale, causal, keep, _threads(q, k, v),
    )  # fmt: skip
    plan = _plans.get(key)
    if plan is None:
        on = _ready(q, k, v, None)
        if on is None:
            return NotImplemented
        if len(_plans) >= _MANY_PLANS:
            _plans.clear()
        plan = _plans[key] = _plan(on, q, k, v, scale, causal, keep)
    on, rest, shape = plan
    out, second = _beside(q, v), np.empty(shape, q.dtype)
    probs, total = (id(second), 0) if keep else (0, id(second))
    # (The function writes into the context, which nobody else has seen.)
    on.forward(_PLACES.pack(id(q), id(k), id(v), 0, 0, id(out), probs, total) + rest)
    return out, second


def _beside(q: Any, v: Any) -> Any:
    """Memory for the result, with adjacent rows."""
    out = empty_beside(np, q, v.shape[-1])
    if out.strides[-1] != out.itemsize or q.ndim < 4:  # (only with heads PyTorch lays it out as the queries)
        out = np.empty(out.shape, out.dtype)
    return out


def _context(on: Attention, arrays: dict[str, Any], mask: Any, scale: float, backward: bool) -> Any:
    """What the threads share; of the arrays, the objects themselves (which somebody must hold)."""
    q, k = arrays["q"], arrays["k"]
    there = {name: array for name, array in arrays.items() if array is not None}
    steps = [array.strides if name != "total" else (*array.strides, 0) for name, array in there.items()]
    names, keys = tuple(there), k.shape[-2]
    if mask is not None:
        names += ("mask",)
        # A dimension of size 1 is all of that dimension.
        steps.append((*[0 if n == 1 else step for n, step in zip(mask.shape[:-1], mask.strides, strict=False)], 0))
        there["mask"] = mask
    wide, tile = arrays["v"].shape[-1], on.shape.rows
    fixed = _fixed(names, tuple(steps), q.shape, keys, wide, q.itemsize, tile, backward, threads.number())
    context = _Context.from_buffer_copy(fixed)
    for name, array in there.items():
        context[PLACE[name]] = id(array)
    context[_PRODUCT], context[_KIND] = on.block, 0 if mask is None else 2 if mask.dtype.kind == "b" else 1
    _SCALE.pack_into(context, _SCALE_AT, scale)
    return context


def _rows_of_mask(mask: Any, keys: int) -> Any:
    """The mask with rows of adjacent numbers, one for each key."""
    if mask is None or (mask.shape[-1:] == (keys,) and mask.strides[-1] == mask.itemsize):
        return mask
    return np.ascontiguousarray(np.broadcast_to(mask, (*mask.shape[:-1], keys)))


def _like(x: Any) -> Any:
    """Memory for a gradient, laid out as what it is the gradient of, if rows lie densely there.

    (They do not where something was spread out: NumPy makes the dimension that had no step the innermost one.)
    """
    found = np.empty_like(x)
    return found if found.strides[-1] == x.itemsize else np.empty(x.shape, x.dtype)


def _dense(x: Any) -> Any:
    """An array whose rows are adjacent numbers."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


Bits = tuple[Any, float]  # which probabilities are kept, one after the other, and what they are multiplied by


def _told_of_bits(context: Any, bits: Bits | None) -> None:
    if bits is not None:
        context[PLACE["bits"]] = id(bits[0])
        _SCALE.pack_into(context, _FACTOR_AT, bits[1])


def _run(
    q: Any, k: Any, v: Any, mask: Any, drop: Any, scale: float, causal: bool, keep: bool, bits: Bits | None = None
) -> Any:
    """The result, and the probabilities (`keep`) or the logarithms of their sums."""
    if mask is None and drop is None and bits is None:
        return _plainly(q, k, v, scale, causal, keep)
    on = _ready(q, k, v, mask)
    if on is None:
        return NotImplemented
    out = _beside(q, v)
    second = np.empty((*q.shape[:-1], k.shape[-2]) if keep else q.shape[:-1], q.dtype)
    mask = _rows_of_mask(mask, k.shape[-2])
    arrays = {"q": q, "k": k, "v": v, "drop": None if drop is None else np.ascontiguousarray(drop), "out": out}
    arrays["probs" if keep else "total"] = second
    context = _context(on, arrays, mask, scale, False)
    _told_of_bits(context, bits)
    context[_CAUSAL], context[_SAFE] = causal, causal or mask is not None
    on.forward(context)
    return out, second


def attention(q: Any, k: Any, v: Any, mask: Any, drop: Any, scale: float, causal: bool) -> Any:
    """The result, and the probabilities (before dropout)."""
    return _run(q, k, v, mask, drop, scale, causal, True)


def tiled_attention(q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The result, and of each query the logarithm of the sum of exponentials of its scores."""
    return _run(q, k, v, mask, None, scale, causal, False)


def _gradients(
    g: Any, q: Any, k: Any, v: Any, mask: Any, drop: Any, name: str, second: Any, scale: float, causal: bool, needs: Any,
    bits: Bits | None = None,
) -> Any:  # fmt: skip
    """Gradients of query, key, value and of the scores; `second`: the probabilities, or the logarithms of their sums."""
    on = _ready(q, k, v, mask)
    if on is None or g.dtype is not q.dtype:
        return NotImplemented
    made = [_like(x) if need else None for x, need in zip((q, k, v), needs, strict=False)]
    gs = np.empty((*q.shape[:-1], k.shape[-2]), q.dtype) if needs[3] else None
    drop = None if drop is None else np.ascontiguousarray(drop)
    arrays = {"q": q, "k": k, "v": v, "drop": drop, "g": _dense(g), "gs": gs, name: second}
    arrays["gq"], arrays["gk"], arrays["gv"] = made
    mask = _rows_of_mask(mask, k.shape[-2])
    context = _context(on, arrays, mask, scale, True)
    _told_of_bits(context, bits)
    context[_CAUSAL] = causal
    if causal or context[_BLOCKS] > 1:  # keys are met more than once, or not at all
        context[_ADDS] = 1
        for x in made[1:]:
            if x is not None:
                x.fill(0)
        if causal and gs is not None:
            gs.fill(0)
    on.backward(context)
    return (*made, gs)


def attention_backward(
    g: Any, q: Any, k: Any, v: Any, drop: Any, probs: Any, scale: float, needs: tuple[bool, ...]
) -> Any:
    """Gradients by the probabilities that were kept."""
    return _gradients(g, q, k, v, None, drop, "probs", _dense(probs), scale, False, needs)


def tiled_attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any
) -> Any:
    """Gradients by probabilities that are computed again. A head is one thread's work: for fewer, others share the products."""
    if math.prod(q.shape[:-2]) < threads.number():
        return NotImplemented
    return _gradients(g, q, k, v, mask, None, "total", np.ascontiguousarray(lse), scale, causal, needs)


def dropped_attention(q: Any, k: Any, v: Any, mask: Any, ticket: Any, scale: float, causal: bool, p: float) -> Any:
    """`tiled_attention` with dropout by bits that were drawn."""
    if ticket.dtype.kind != "u":
        return NotImplemented
    return _run(q, k, v, mask, None, scale, causal, False, (ticket, 1 / (1 - p)))


def dropped_attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, out: Any, lse: Any, scale: float, causal: bool, p: float, needs: Any
) -> Any:  # fmt: skip
    """Its gradients."""
    if ticket.dtype.kind != "u" or math.prod(q.shape[:-2]) < threads.number():
        return NotImplemented
    total = np.ascontiguousarray(lse)
    return _gradients(g, q, k, v, mask, None, "total", total, scale, causal, needs, (ticket, 1 / (1 - p)))


def make() -> None:
    """Make all offers."""
    for name, function in (
        ("scaled_dot_product_attention", attention), ("attention_backward", attention_backward),
        ("tiled_attention", tiled_attention), ("tiled_attention_backward", tiled_attention_backward),
        ("dropped_attention", dropped_attention), ("dropped_attention_backward", dropped_attention_backward),
    ):  # fmt: skip
        offer(name, "llvm", function, least=1)

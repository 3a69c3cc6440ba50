"""Scaled dot-product attention: one pass over the scores forward, one backward."""

from __future__ import annotations

import functools
from typing import Any

from ...quiet import quietly
from ...registry import kernel


@functools.lru_cache(maxsize=16)
def causal_mask(xp: Any, rows: int, columns: int, dtype: Any) -> Any:
    """0 where a query may look (itself and before), -inf where not."""
    return xp.triu(xp.full((rows, columns), -xp.inf, dtype), 1)


@kernel("scaled_dot_product_attention")
@quietly
def attention(xp: Any, q: Any, k: Any, v: Any, mask: Any, drop: Any, scale: float, causal: bool) -> Any:
    """The result, and the probabilities (before dropout, whose factors are `drop`)."""
    scores = xp.matmul(q * q.dtype.type(scale), k.swapaxes(-1, -2))
    if causal:
        scores += causal_mask(xp, scores.shape[-2], scores.shape[-1], scores.dtype)
    if mask is not None:
        scores = scores + mask if mask.dtype.kind != "b" else xp.where(mask, scores, scores.dtype.type(-xp.inf))
    if scores.size:
        top = xp.maximum.reduce(scores, axis=-1, keepdims=True)
        if causal or mask is not None:
            top = xp.where(top == -xp.inf, top.dtype.type(0), top)  # a query that may look nowhere gets 0, not nan
        scores -= top
        xp.exp(scores, out=scores)
        total = xp.add.reduce(scores, axis=-1, keepdims=True)
        if causal or mask is not None:
            total = xp.where(total == 0, total.dtype.type(1), total)
        scores /= total
    return xp.matmul(scores if drop is None else scores * drop, v), scores


@kernel("attention_backward")
@quietly
def attention_backward(
    xp: Any, g: Any, q: Any, k: Any, v: Any, drop: Any, probs: Any, scale: float, needs: tuple[bool, ...]
) -> Any:
    """Gradients of query, key, value and of the scores (the mask's)."""
    used = probs if drop is None else probs * drop
    gv = xp.matmul(used.swapaxes(-1, -2), g) if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return None, None, gv, None
    gs = xp.matmul(g, v.swapaxes(-1, -2))
    if drop is not None:
        gs *= drop
    gs -= xp.einsum("...ij,...ij->...i", gs, probs)[..., None]
    gs *= probs
    factor = q.dtype.type(scale)
    gq = xp.matmul(gs, k * factor) if needs[0] else None
    gk = xp.matmul(gs.swapaxes(-1, -2), q * factor) if needs[1] else None
    return gq, gk, gv, gs if needs[3] else None

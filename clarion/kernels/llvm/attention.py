"""Attention with compiled passes over the scores: one forward, one backward."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..portable.layers.attention import causal_mask
from ..registry import raw


def enough(least: int) -> Any:
    """Are there so many scores, of one floating type?"""

    def accepts(q: Any, k: Any, v: Any, mask: Any, drop: Any, scale: float, causal: bool) -> bool:
        return math.prod(q.shape[:-1]) * k.shape[-2] >= least

    return accepts


def attention(weights: Any) -> Any:
    """The forward pass; `weights(scores, mask)` is compiled."""

    def run(q: Any, k: Any, v: Any, mask: Any, drop: Any, scale: float, causal: bool) -> Any:
        scores = raw.matmul_nt(q * q.dtype.type(scale), k)
        if causal:
            before = causal_mask(np, scores.shape[-2], scores.shape[-1], scores.dtype)
            if mask is None:
                mask = before
            elif mask.dtype.kind == "b":
                mask = mask & (before == 0)
            else:
                mask = mask + before
        probs = weights(scores, mask)
        if probs is NotImplemented:
            return NotImplemented
        out = _laid_as(probs.shape[:-1], v.shape[-1], q)
        raw.matmul_into(probs if drop is None else probs * drop, v, out)
        return out, probs

    return run


def _laid_as(shape: tuple[int, ...], width: int, q: Any) -> Any:
    """Memory for the result: its matrices follow each other as those of the queries do, as NumPy's and PyTorch's do."""
    order = sorted(range(len(shape) - 1), key=lambda i: -q.strides[i])
    made = np.empty([*[shape[i] for i in order], shape[-1], width], q.dtype)
    return made.transpose(*np.argsort(order), made.ndim - 2, made.ndim - 1)


def attention_backward(
    g: Any, q: Any, k: Any, v: Any, drop: Any, probs: Any, scale: float, needs: tuple[bool, ...]
) -> Any:
    """Gradients of query, key, value and of the scores (the mask's)."""
    used = probs if drop is None else probs * drop
    gv = raw.matmul_tn(used, g) if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return None, None, gv, None
    gs = raw.matmul_nt(g, v)
    if drop is not None:
        gs *= drop
    gs = raw.softmax_backward(gs, probs, gs.ndim - 1)
    factor = q.dtype.type(scale)
    gq = raw.matmul(gs, k * factor) if needs[0] else None
    gk = raw.matmul_tn(gs, q * factor) if needs[1] else None
    return gq, gk, gv, gs if needs[3] else None


def enough_backward(least: int) -> Any:
    """Are there so many scores?"""

    def accepts(g: Any, q: Any, k: Any, v: Any, drop: Any, probs: Any, scale: float, needs: Any) -> bool:
        return bool(probs.size >= least)

    return accepts

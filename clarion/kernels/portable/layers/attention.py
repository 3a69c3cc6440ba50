"""Scaled dot-product attention: all scores at once where they are few, and in tiles that are never kept where they are many."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from ...quiet import quietly
from ...registry import kernel, raw


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
        top = scores.max(-1, keepdims=True)
        if causal or mask is not None:
            top = xp.where(top == -xp.inf, top.dtype.type(0), top)  # a query that may look nowhere gets 0, not nan
        scores -= top
        xp.exp(scores, out=scores)
        total = xp.add.reduce(scores, axis=-1, keepdims=True)
        if causal or mask is not None:
            total = xp.where(total == 0, total.dtype.type(1), total)
        scores /= total
    if drop is not None or q.ndim != 4 or q.strides[-1] != q.itemsize:
        return xp.matmul(scores if drop is None else scores * drop, v), scores
    return xp.matmul(scores, v, out=empty_beside(xp, q, v.shape[-1])), scores


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


# In tiles ------------------------------------------------------------------------------------------

TILE = 2 << 20  # bytes of scores that are computed at a time: a few such arrays stay in the cache


LOW = 32  # a tile has at least so many queries: products of fewer rows are slow


def _tiles(q: Any, k: Any, causal: bool) -> Iterator[tuple[tuple[slice, ...], slice, int]]:
    """Slices of the leading dimensions, a slice of the queries, and how many keys they may see: together all of the scores."""
    *lead, rows, _ = q.shape
    keys = k.shape[-2]
    room = TILE // q.itemsize
    cuts, heads = [], math.prod(lead)
    for n in lead:
        heads //= max(n, 1)
        step = max(1, min(n, room // max(1, heads * rows * keys)))
        cuts.append([slice(start, start + step) for start in range(0, n, step)])
    whole = math.prod(cut[0].stop - cut[0].start for cut in cuts if cut)
    height = max(LOW, room // max(1, whole * keys))
    for which in product(*cuts):
        for start in range(0, rows, height):
            stop = min(rows, start + height)
            yield which, slice(start, stop), min(keys, stop) if causal else keys


def _tile_scores(xp: Any, q: Any, k: Any, mask: Any, which: Any, at: slice, seen: int, causal: bool) -> Any:
    """The scores of a tile of the queries, which are scaled already; -inf where they may not look."""
    scores = xp.matmul(q[(*which, at)], k[which][..., :seen, :].swapaxes(-1, -2))
    if causal:
        first = min(at.start, seen)  # before that, all may look
        scores[..., first:] += causal_mask(xp, at.stop - at.start, seen - first, scores.dtype)
    if mask is not None:
        place = (*which, at, slice(seen))[-mask.ndim :]
        part = mask[tuple([cut if n != 1 else slice(None) for cut, n in zip(place, mask.shape, strict=True)])]
        scores = scores + part if mask.dtype.kind != "b" else xp.where(part, scores, scores.dtype.type(-xp.inf))
    return scores


def empty_beside(xp: Any, q: Any, width: int) -> Any:
    """Memory for the result, laid out as the queries are: heads that lie side by side stay there, as in PyTorch."""
    return xp.empty_like(q) if width == q.shape[-1] else xp.empty((*q.shape[:-1], width), q.dtype)


Noise = Callable[[tuple[slice, ...], int], Any]  # what dropout multiplies the probabilities of a tile by


def _forward(xp: Any, q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool, noise: Noise | None) -> Any:
    out = empty_beside(xp, q, v.shape[-1])
    lse = xp.empty(q.shape[:-1], q.dtype)
    scaled = q * q.dtype.type(scale)
    for which, at, seen in _tiles(q, k, causal):
        tile = (*which, at)
        scores = _tile_scores(xp, scaled, k, mask, which, at, seen, causal)
        top = xp.max(scores, axis=-1, keepdims=True)
        if mask is not None:
            top = xp.where(top == -xp.inf, top.dtype.type(0), top)  # a query that may look nowhere gets 0, not nan
        scores -= top
        xp.exp(scores, out=scores)
        total = xp.sum(scores, axis=-1, keepdims=True)
        lse[tile] = (top + xp.log(total))[..., 0]
        if mask is not None:
            total = xp.where(total == 0, total.dtype.type(1), total)
        if noise is not None:
            scores *= noise(tile, seen)
        out[tile] = xp.matmul(scores, v[which][..., :seen, :]) / total
    return out, lse


def _backward(
    xp: Any, g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any, noise: Noise | None
) -> Any:  # fmt: skip
    factor = q.dtype.type(scale)
    scaled = q * factor
    along = xp.sum(g * out, axis=-1, keepdims=True)
    shift = xp.where(lse == -xp.inf, lse.dtype.type(0), lse)[..., None]
    gq, gk, gv = xp.empty_like(q), xp.zeros(k.shape, k.dtype), xp.zeros(v.shape, v.dtype)
    gs = xp.zeros((*q.shape[:-1], k.shape[-2]), q.dtype) if needs[3] else None
    for which, at, seen in _tiles(q, k, causal):
        probs = _tile_scores(xp, scaled, k, mask, which, at, seen, causal)
        tile = (*which, at)
        probs -= shift[tile]
        xp.exp(probs, out=probs)
        here, keys, values = g[tile], k[which][..., :seen, :], v[which][..., :seen, :]
        factors = None if noise is None else noise(tile, seen)
        used = probs if factors is None else probs * factors
        gv[which][..., :seen, :] += xp.matmul(used.swapaxes(-1, -2), here)
        through = xp.matmul(here, values.swapaxes(-1, -2))
        if factors is not None:
            through *= factors
        through -= along[tile]
        through *= probs
        if gs is not None:
            gs[(*tile, slice(seen))] = through
        gq[tile] = xp.matmul(through, keys) * factor
        gk[which][..., :seen, :] += xp.matmul(through.swapaxes(-1, -2), scaled[tile])
    return gq, gk, gv, gs


@kernel("tiled_attention")
@quietly
def tiled_attention(xp: Any, q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The result, and of each query the logarithm of the sum of exponentials of its scores (-inf if it looks nowhere)."""
    return _forward(xp, q, k, v, mask, scale, causal, None)


@kernel("tiled_attention_backward")
@quietly
def tiled_attention_backward(
    xp: Any, g: Any, q: Any, k: Any, v: Any, mask: Any, out: Any, lse: Any, scale: float, causal: bool, needs: Any
) -> Any:
    """Gradients of query, key, value and of the scores (the mask's). Probabilities are computed anew, tile by tile."""
    return _backward(xp, g, q, k, v, mask, out, lse, scale, causal, needs, None)


# With dropout ------------------------------------------------------------------------------------------------
# Whoever has the ticket has the noise: bytes are bits that were drawn beforehand (1: kept), one after the other; a number is a seed.


@kernel("attention_noise")
def attention_noise(xp: Any, ticket: Any, lead: tuple[int, ...], queries: int, keys: int, p: float) -> Any:
    """1 / (1 - p) for probabilities that dropout keeps, else 0."""
    if ticket.dtype.kind == "u":
        return _of_bits(xp, ticket, lead, queries, keys, p, (*map(slice, lead), slice(queries)), keys, xp.float64)
    return _of_seed(xp, ticket, lead, queries, keys, p)


def _of_bits(
    xp: Any, ticket: Any, lead: tuple[int, ...], queries: int, keys: int, p: float, tile: tuple[slice, ...], seen: int, kind: Any
) -> Any:  # fmt: skip
    *which, at = tile
    first, end = at.start or 0, at.stop
    heads = xp.arange(math.prod(lead)).reshape(lead)[tuple(which)]
    parts = []
    for head in heads.ravel().tolist():
        begin, count = (head * queries + first) * keys, (end - first) * keys
        some = xp.unpackbits(ticket[begin // 8 : -(-(begin + count) // 8)], bitorder="little")
        parts.append(some[begin % 8 : begin % 8 + count].reshape(-1, keys)[:, :seen])
    kept = xp.stack(parts).reshape(*heads.shape, end - first, seen)
    return xp.multiply(kept, 1 / (1 - p), dtype=kind)


def _of_seed(xp: Any, ticket: Any, lead: tuple[int, ...], queries: int, keys: int, p: float) -> Any:
    """The first word of Philox 4x32-10, as a number in [0, 1), is to be p at least.

    The seed is the ticket, moved on for each head; the counter is the place of a probability.
    """
    seeds = ticket.astype(xp.int64) + xp.arange(math.prod(lead), dtype=xp.int64) * 7919
    low, mask = xp.uint64(0xFFFFFFFF), xp.uint64(32)
    seeds = seeds.astype(xp.uint64)[:, None]
    k0, k1 = seeds & low, seeds >> mask
    c0 = xp.arange(queries * keys, dtype=xp.uint64)[None, :] & low
    c1 = c2 = c3 = xp.zeros_like(c0)
    for _ in range(10):
        first, second = c0 * xp.uint64(0xD2511F53), c2 * xp.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (second >> mask) ^ c1 ^ k0, second & low, (first >> mask) ^ c3 ^ k1, first & low
        k0, k1 = (k0 + xp.uint64(0x9E3779B9)) & low, (k1 + xp.uint64(0xBB67AE85)) & low
    word = c0.astype(xp.int64)
    word = xp.where(word >= 2**31, 2**32 - 1 - word, word)
    kept = word.astype(xp.float32) * xp.float32(4.6566127342e-10) >= xp.float32(p)
    return (kept.astype(xp.float32) * xp.float32(1 / (1 - p))).reshape(*lead, queries, keys)


def _noise(xp: Any, ticket: Any, q: Any, k: Any, p: float) -> Noise:
    size = (q.shape[:-2], q.shape[-2], k.shape[-2], p)
    if ticket.dtype.kind == "u":
        return lambda tile, seen: _of_bits(xp, ticket, *size, tile, seen, q.dtype)
    whole = raw.attention_noise(ticket, *size).astype(q.dtype)
    return lambda tile, seen: whole[(*tile, slice(seen))]


@kernel("dropped_attention")
@quietly
def dropped_attention(
    xp: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, scale: float, causal: bool, p: float
) -> Any:
    """`tiled_attention` with probabilities of which dropout leaves out some."""
    return _forward(xp, q, k, v, mask, scale, causal, _noise(xp, ticket, q, k, p))


@kernel("dropped_attention_backward")
@quietly
def dropped_attention_backward(
    xp: Any, g: Any, q: Any, k: Any, v: Any, mask: Any, ticket: Any, out: Any, lse: Any, scale: float, causal: bool, p: float,
    needs: Any,
) -> Any:  # fmt: skip
    """Gradients of query, key, value and of the scores (the mask's)."""
    return _backward(xp, g, q, k, v, mask, out, lse, scale, causal, needs, _noise(xp, ticket, q, k, p))

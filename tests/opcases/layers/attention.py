"""Attention."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

from clarion.core.namespace import OPS
from clarion.kernels.registry import portable

from ..row import Row, either, functional


def softmax(x):
    return sp.softmax(x, -1)


def attention(q, k, v):
    return softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])) @ v


def tiled(scale=None, causal=False):
    """Attention by the operation that computes in tiles; in PyTorch whichever way it takes."""

    def call(t, q, k, v, mask=None):
        if t.__name__ != "clarion":
            return t.nn.functional.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=scale)
        return OPS["tiled_attention"].call(q, k, v, mask, scale or q.shape[-1] ** -0.5, causal)[0]

    return call


def dropped(causal=False, p=0.4, ticket=12345):
    """Attention with the noise that a number decides; in PyTorch spelled out, with the same noise."""

    def call(t, q, k, v, mask=None):
        scale = q.shape[-1] ** -0.5
        if t.__name__ == "clarion":
            given = t.tensor([ticket], device=q.device)
            return OPS["dropped_attention"].call(q, k, v, mask, given, scale, causal, p)[0]
        shape = (tuple(q.shape[:-2]), q.shape[-2], k.shape[-2])
        noise = t.from_numpy(portable("attention_noise")(np.asarray([ticket]), *shape, p)).to(q)
        scores = q @ k.transpose(-1, -2) * scale
        if mask is not None:
            scores = scores.masked_fill(~mask, -float("inf")) if mask.dtype is t.bool else scores + mask
        if causal:
            scores = scores.masked_fill(~t.ones(shape[1:], dtype=t.bool).tril(), -float("inf"))
        return (scores.softmax(-1) * noise) @ v

    return call


def heads(batched):
    """Three projections side by side as heads; in PyTorch by steps."""
    order = (2, 0, 3, 1, 4) if batched else (2, 1, 3, 0, 4)
    return either("heads", (3, 2, batched), lambda t, x: x.view(*x.shape[:2], 3, 2, 2).permute(order).unbind(0))


def joined_heads(t, q, v):
    """Gradients of heads side by side, that of the keys missing."""
    if t.__name__ == "clarion":
        return OPS["heads_backward"].call((q, None, v), (3, 5, 12), 2, False)
    return t.stack([q, 0 * q, v]).permute(3, 1, 0, 2, 4).reshape(3, 5, 12)


joined_heads.internal = True


def scores_and_mask(rng):
    q, k, v = (rng.standard_normal((2, 3, n, 4)) for n in (5, 6, 6))
    return [q, k, v, rng.random((5, 6)) > 0.3]


ROWS = [
    Row(
        "heads",
        heads(True),
        ((3, 5, 12),),
        lambda x: tuple(x.reshape(3, 5, 3, 2, 2).transpose(2, 0, 3, 1, 4)),
    ),
    Row(
        "heads",
        heads(False),
        ((3, 5, 12),),
        lambda x: tuple(x.reshape(3, 5, 3, 2, 2).transpose(2, 1, 3, 0, 4)),
        label="length first",
    ),
    Row(
        "heads_backward",
        joined_heads,
        ((5, 2, 3, 2), (5, 2, 3, 2)),
        lambda q, v: np.stack([q, 0 * q, v]).transpose(3, 1, 0, 2, 4).reshape(3, 5, 12),
    ),
    Row(
        "scaled_dot_product_attention",
        functional("scaled_dot_product_attention"),
        ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
        attention,
        edge_shapes=(((5, 4), (6, 4), (6, 3)),),
    ),
    Row(
        "scaled_dot_product_attention",
        functional("scaled_dot_product_attention", is_causal=True, scale=0.3),
        ((2, 5, 4), (2, 5, 4), (2, 5, 4)),
        None,
        label="causal",
    ),
    Row(
        "scaled_dot_product_attention", functional("scaled_dot_product_attention"), inputs=scores_and_mask, label="mask"
    ),
    Row(
        "scaled_dot_product_attention",
        functional("scaled_dot_product_attention"),
        ((2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 6)),
        None,
        label="bias",
    ),
    Row("tiled_attention", tiled(), ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)), attention),
    Row("tiled_attention", tiled(scale=0.3, causal=True), ((2, 2, 5, 4), (2, 2, 5, 4), (2, 2, 5, 4)), label="causal"),
    Row("tiled_attention", tiled(scale=0.5, causal=True), ((2, 1, 6, 4), (2, 1, 3, 4), (2, 1, 3, 4)), label="few keys"),
    Row("tiled_attention", tiled(), inputs=scores_and_mask, label="mask"),
    Row("tiled_attention", tiled(), ((2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 6)), label="bias"),
    Row("dropped_attention", dropped(), ((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4))),
    Row("dropped_attention", dropped(True), ((2, 3, 5, 16), (2, 3, 5, 16), (2, 3, 5, 16)), label="causal"),
    Row("dropped_attention", dropped(), inputs=scores_and_mask, label="mask"),
    Row("dropped_attention", dropped(), ((2, 5, 4), (2, 6, 4), (2, 6, 4), (5, 6)), label="bias"),
]

"""Scaled dot-product attention as one operation."""

from __future__ import annotations

import math
from typing import Any

from ...core.devices import kind_of, xp_of
from ...core.dtypes import broadcast_shapes, i64, uint8
from ...core.op import Op
from ...core.op_node import unbroadcast
from ...core.tensor import Tensor, new_tensor
from ...errors import EngineError, not_a_tensor
from ...events import hub
from ...kernels.random import default_generator, dropout_bits
from ...kernels.registry import RawNamespace, raw
from ..faces.api import functional
from ..faces.autocast import autocast
from .dropout import noise


def _attention_rule(
    g: Any, q: Any, k: Any, v: Any, mask_shape: Any, drop: Any, scale: float, probs: Any, needs: Any, ops: Any
) -> Any:
    """Gradients of query, key, value and mask. The probabilities are an output too: second derivatives pass through."""
    g_out, g_probs = g
    if isinstance(ops, RawNamespace) and g_probs is None:
        grads = ops.attention_backward(g_out, q, k, v, drop, probs, scale, needs)
        return (*grads[:3], None if grads[3] is None else unbroadcast(grads[3], mask_shape), None)
    gv = None
    gp = g_probs
    if g_out is not None:
        if needs[2]:
            gv = ops.matmul(_turned(probs if drop is None else probs * drop, ops), g_out)
        through = ops.matmul(g_out, _turned(v, ops))
        through = through if drop is None else through * drop
        gp = through if gp is None else gp + through
    gs = probs * (gp - ops.sum(gp * probs, (len(probs.shape) - 1,), True))
    gq = ops.matmul(gs, k) * scale if needs[0] else None
    gk = ops.matmul(_turned(gs, ops), q) * scale if needs[1] else None
    return (gq, gk, gv, _sum_to(gs, mask_shape, ops) if needs[3] else None, None)


def _turned(x: Any, ops: Any) -> Any:
    n = len(x.shape)
    return ops.permute(x, (*range(n - 2), n - 1, n - 2))


def _sum_to(g: Any, shape: tuple[int, ...], ops: Any) -> Any:
    """Undo the mask's broadcasting."""
    extra = len(g.shape) - len(shape)
    dims = [*range(extra), *[i + extra for i, n in enumerate(shape) if n == 1 and g.shape[i + extra] != 1]]
    return ops.view(ops.sum(g, tuple(dims), True), shape) if dims else g


attention_op = Op(
    "scaled_dot_product_attention", "q k v mask? drop?", "scale causal", outputs="out probs", grad_outputs=(0, 1),
    node="ScaledDotProductFlashAttentionForCpuBackward0", saved_as={"query": "q", "key": "k", "value": "v"}, traits="attention softmax",
)  # fmt: skip
attention_op.vjp(_attention_rule)


def _tiled_rule(
    g: Any, q: Any, k: Any, v: Any, mask: Any, mask_shape: Any, scale: float, causal: bool, out: Any, lse: Any, needs: Any, ops: Any
) -> Any:  # fmt: skip
    """Gradients of query, key, value and mask: raw, tile by tile; on Tensors through the probabilities, spelled out."""
    if isinstance(ops, RawNamespace) and g[1] is None:
        grads = ops.tiled_attention_backward(g[0], q, k, v, mask, out, lse, scale, causal, needs)
        return _wanted(grads, mask_shape, needs)
    return _through_probabilities(g, q, k, v, mask, mask_shape, scale, causal, None, needs, ops)


def _dropped_rule(
    g: Any, q: Any, k: Any, v: Any, mask: Any, mask_shape: Any, ticket: Any, scale: float, causal: bool, p: float, out: Any, lse: Any,
    needs: Any, ops: Any,
) -> Any:  # fmt: skip
    if isinstance(ops, RawNamespace) and g[1] is None:
        grads = ops.dropped_attention_backward(g[0], q, k, v, mask, ticket, out, lse, scale, causal, p, needs)
        return (*_wanted(grads, mask_shape, needs), None)
    drop = _noise(q, k, ticket, p)
    return (*_through_probabilities(g, q, k, v, mask, mask_shape, scale, causal, drop, needs, ops), None)


def _wanted(grads: Any, mask_shape: Any, needs: Any) -> Any:
    wanted = [grad if need else None for grad, need in zip(grads[:3], needs, strict=False)]
    return (*wanted, unbroadcast(grads[3], mask_shape) if needs[3] else None)


def _noise(q: Any, k: Any, ticket: Any, p: float) -> Any:
    """What dropout multiplies probabilities by, in the world of `q`."""
    arrays = [each._array if isinstance(each, Tensor) else each for each in (q, k, ticket)]
    shape = arrays[0].shape
    drawn = raw.attention_noise(arrays[2], shape[:-2], shape[-2], arrays[1].shape[-2], p).astype(arrays[0].dtype)
    return new_tensor(drawn) if isinstance(q, Tensor) else drawn


def _through_probabilities(
    g: Any, q: Any, k: Any, v: Any, mask: Any, mask_shape: Any, scale: float, causal: bool, drop: Any, needs: Any, ops: Any
) -> Any:  # fmt: skip
    g_out, g_lse = g
    scores = ops.matmul(q, _turned(k, ops)) * scale
    if mask is not None:
        scores = ops.where(mask, scores, -math.inf) if _is_bool(mask) else scores + mask
    if causal:
        scores = ops.where(_may_look(scores), scores, -math.inf)
    probs = ops.softmax(scores, len(scores.shape) - 1)
    gp, gv = None, None
    if g_out is not None:
        gp = ops.matmul(g_out, _turned(v, ops))
        gp = gp if drop is None else gp * drop
        used = probs if drop is None else probs * drop
        gv = ops.matmul(_turned(used, ops), g_out) if needs[2] else None
    gs = 0 if gp is None else probs * (gp - ops.sum(gp * probs, (len(probs.shape) - 1,), True))
    if g_lse is not None:
        gs = gs + probs * ops.unsqueeze(g_lse, len(g_lse.shape))
    gq = ops.matmul(gs, k) * scale if needs[0] else None
    gk = ops.matmul(_turned(gs, ops), q) * scale if needs[1] else None
    return (gq, gk, gv, _sum_to(gs, mask_shape, ops) if needs[3] else None)


def _is_bool(mask: Any) -> bool:
    return str(mask.dtype).endswith("bool")


def _may_look(scores: Any) -> Any:
    """True on and below the diagonal, in the world of `scores`."""
    array = scores._array if isinstance(scores, Tensor) else scores
    below = xp_of(array).tri(*array.shape[-2:], dtype=bool)
    return new_tensor(below) if isinstance(scores, Tensor) else below


tiled_attention_op = Op(
    "tiled_attention", "q k v mask?", "scale causal", outputs="out lse", grad_outputs=(0, 1),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    saved_as={"query": "q", "key": "k", "value": "v", "output": "out", "logsumexp": "lse"}, traits="attention softmax",
)  # fmt: skip
tiled_attention_op.vjp(_tiled_rule)

dropped_attention_op = Op(
    "dropped_attention", "q k v mask? ticket", "scale causal p", outputs="out lse", grad_outputs=(0, 1),
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    saved_as={"query": "q", "key": "k", "value": "v", "output": "out", "logsumexp": "lse"}, traits="attention softmax",
)  # fmt: skip
dropped_attention_op.vjp(_dropped_rule)

KEPT = 4 << 20  # bytes of probabilities that are kept for the backward pass; more are computed twice, tile by tile


@functional()
@autocast("lower")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value."""
    _check(query, key, value, attn_mask, is_causal)
    if enable_gqa:
        key, value = _repeat_heads(query, key), _repeat_heads(query, value)
    query, key, value = _same_batch(query, key, value)
    shape = query._array.shape
    if not _fit(shape, key._array.shape, value._array.shape, attn_mask):
        _refuse(query, key, value, attn_mask)
    if scale is None:
        scale = 1 / math.sqrt(shape[-1]) if shape[-1] else 1.0
    drop = None
    count = math.prod(shape[:-1]) * key._array.shape[-2]
    if dropout_p == 0 and (count * query._array.itemsize > KEPT or kind_of(query._array).half):
        return tiled_attention_op.call(query, key, value, attn_mask, scale, is_causal)[0]
    if dropout_p > 0:
        if hub.dropped is not None:
            hub.dropped(query, dropout_p)
        where = kind_of(query._array)
        if dropout_p < 1 and (where.half or count * query._array.itemsize > KEPT):
            ticket = _ticket(where, count, dropout_p)
            if ticket is not None:
                given = query, key, value, attn_mask, new_tensor(ticket), scale, is_causal, dropout_p
                return dropped_attention_op.call(*given)[0]
        drop = new_tensor(
            noise(kind_of(query._array), (*shape[:-1], key._array.shape[-2]), dropout_p, query._array.dtype)
        )
    return attention_op.call(query, key, value, attn_mask, drop, scale, is_causal)[0]


def _ticket(where: Any, count: int, p: float) -> Any:
    """What decides the noise of so many probabilities, which nobody keeps: where they are drawn in any order, a random number.

    On the host PyTorch draws them one after the other: a bit for each.
    """
    if where.half or not where.draws:
        return where.draw("ticket", None, (1,), i64)
    return where.computed((count // 8 + 8,), uint8.numpy, lambda: dropout_bits(default_generator, count, p))


def _check(query: Any, key: Any, value: Any, mask: Any, is_causal: bool) -> None:
    for name, each in (("query", query), ("key", key), ("value", value)):
        if not isinstance(each, Tensor):
            raise not_a_tensor("scaled_dot_product_attention", name, each)
    q, k, v = query._array, key._array, value._array
    if not (q.dtype is k.dtype is v.dtype or q.dtype == k.dtype == v.dtype):
        raise EngineError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.old.lower()} key.dtype: {key.dtype.old.lower()} and value.dtype: {value.dtype.old.lower()} instead."
        )
    if q.ndim < 2 or k.ndim < 2 or v.ndim < 2:
        raise EngineError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.ndim}, key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if mask is not None:
        if is_causal:
            raise EngineError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        if mask._array.dtype.kind != "b" and mask._array.dtype != query._array.dtype:
            raise EngineError(
                f"Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                f"{mask.dtype.old.lower()} and  query.dtype: {query.dtype.old.lower()} instead."
            )


def _repeat_heads(query: Any, x: Any) -> Any:
    """Grouped queries: each head of key and value serves several of the query's."""
    heads, mine = query.size(-3), x.size(-3)
    if heads == mine:
        return x
    if heads % mine:
        raise EngineError(
            f"Number of heads in key and value must divide the number of heads in query ({heads}, {mine})"
        )
    return x.repeat_interleave(heads // mine, -3)


def _same_batch(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """The batch dimensions expanded to one shape."""
    first, second, third = query._array.shape, key._array.shape, value._array.shape
    if first[:-2] == second[:-2] == third[:-2]:
        return query, key, value
    try:
        whole = broadcast_shapes(first[:-2], second[:-2], third[:-2])
    except ValueError:
        return query, key, value  # which do not fit
    return tuple(
        t if t._array.shape[:-2] == whole else t.expand(*whole, *t._array.shape[-2:]) for t in (query, key, value)
    )


def _fit(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...], mask: Any) -> bool:
    """Whether the kernels, which look no more, may compute it: one batch, one width, one length, a mask that expands to the scores."""
    if query[-1] != key[-1] or key[-2] != value[-2] or not query[:-2] == key[:-2] == value[:-2]:
        return False
    if mask is None:
        return True
    scores, given = (*query[:-1], key[-2]), mask._array.shape
    return len(given) <= len(scores) and all(
        each in (1, whole) for each, whole in zip(reversed(given), reversed(scores), strict=False)
    )


def _refuse(query: Any, key: Any, value: Any, mask: Any) -> None:
    """Raise what the operations raise that PyTorch's attention is made of."""
    scores = query.detach() @ key.detach().mT
    if mask is not None:
        scores.add_(mask.detach())
    scores @ value.detach()

"""`multi_head_attention_forward`: projections, masks and attention of several heads."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import EngineError
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL, functional

fast = True  # the switch of torch.backends.mha


def canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """A mask to add to the scores: -inf where a boolean mask is True."""
    if mask is None:
        return None
    kind = mask._array.dtype.kind
    if kind != "b" and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            UserWarning,
            stacklevel=2,
        )
    if kind != "b":
        return mask
    return mask.new_zeros(mask.shape, dtype=target_type).masked_fill_(mask, -math.inf)


def check_shapes(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Is there a batch dimension? Refuses arguments that do not fit together."""
    ndim = query.dim()
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    title = f"For {'batched (3-D)' if ndim == 3 else 'unbatched (2-D)'} `query`, expected"
    if key.dim() != ndim or value.dim() != ndim:
        raise AssertionError(
            f"{title} `key` and `value` to be {ndim}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != ndim - 1:
        raise AssertionError(
            f"{title} `key_padding_mask` to be `None` or {ndim - 1}-D but found {key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{title} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        expected = (num_heads, query.shape[0], key.shape[0])
        if ndim == 2 and attn_mask.dim() == 3 and attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return bool(ndim == 3)


heads_op = Op("heads", "x", "parts count batched", multi_view=True, traits="rearranges")
heads_op.vjp(
    x=lambda g, x_shape, count, batched, ops: ops.heads_backward(
        g if type(g) is tuple else (g,), x_shape, count, batched
    )
)

heads_backward_op = Op("heads_backward", "*given", "shape count batched", moves=True)
heads_backward_op.vjp(lambda g, given_shape, count, batched, ops: ops.heads(g, len(given_shape), count, batched)).jvp(
    "together"
)


Weights = tuple[Any, ...]  # of query, key and value; or one for all of them


def _projections(inputs: tuple[Any, Any, Any], weights: Weights, bias: Any) -> list[tuple[Any, Any, Any, int]]:
    """What has to be multiplied by what, with which bias, and how many of query, key and value that gives."""
    q, k, v = inputs
    size = q.shape[-1]
    if len(weights) == 3:
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        return [(x, w, b, 1) for x, w, b in zip(inputs, weights, biases, strict=True)]
    if k is v and q is k:
        return [(q, weights[0], bias, 3)]
    if k is v:
        biases = (None, None) if bias is None else bias.split([size, size * 2])
        return [
            (x, w, b, n) for x, w, b, n in zip((q, k), weights[0].split([size, size * 2]), biases, (1, 2), strict=True)
        ]
    return _projections(inputs, weights[0].chunk(3), bias)


def _projected(inputs: tuple[Any, Any, Any], weights: Weights, bias: Any) -> list[Any]:
    """Query, key and value through their weights; as few products as the arguments allow."""
    found: list[Any] = []
    for x, w, b, parts in _projections(inputs, weights, bias):
        y = NN_FUNCTIONAL["linear"](x, w, b)
        if parts == 1:
            found.append(y)
        else:
            found += y.unflatten(-1, (parts, y.shape[-1] // parts)).movedim(-2, 0).contiguous().unbind(0)
    return found


def _projected_heads(inputs: tuple[Any, Any, Any], weights: Weights, bias: Any, count: int) -> list[Any]:
    """The same as heads of (batch, count, length, size), which are views."""
    found: list[Any] = []
    for x, w, b, parts in _projections(inputs, weights, bias):
        turned = x.transpose(0, 1)
        batched = turned._array.flags.c_contiguous is True  # batches lie one after the other: so they are multiplied
        found += heads_op.call(NN_FUNCTIONAL["linear"](turned if batched else x, w, b), parts, count, batched)
    return found


def _check_sizes(q: Any, k: Any, v: Any, expected: int, num_heads: int, separate: bool) -> None:
    size = q.shape[-1]
    if size != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {size}")
    if size % num_heads:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if not separate and k.shape != v.shape:
        raise AssertionError(f"key shape {k.shape} does not match value shape {v.shape}")
    if k.shape[:2] != v.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {k.shape[:2]} do not match value's {v.shape[:2]}")


def _masks(
    q: Any, k: Any, padding: Any, attn_mask: Any, num_heads: int, need_weights: bool, is_causal: bool
) -> tuple[Any, Any, bool]:
    """Both masks, ready to be added, and whether the causal hint may stand in for the first."""
    other = None if attn_mask is None else attn_mask.dtype
    for place, size in enumerate((k.shape[1], k.shape[0]) if padding is not None else ()):
        if padding.shape[place] != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {size}, but got {padding.shape[place]}"
            )
    padding = canonical_mask(padding, "key_padding_mask", other, "attn_mask", q.dtype)
    if is_causal and attn_mask is None:
        raise EngineError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        return None, None, True
    mask = canonical_mask(attn_mask, "attn_mask", None, "", q.dtype, check_other=False)
    # A mask that is given is used: the hint says no more than it does.
    return _check_mask(mask, (q.shape[1] * num_heads, q.shape[0], k.shape[0])), padding, False


def _with_padding(mask: Any, padding: Any, batch: int, num_heads: int) -> Any:
    """One mask out of both."""
    if padding is None:
        return mask
    keys = padding.shape[-1]
    padding = padding.view(batch, 1, 1, keys).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, keys)
    return padding if mask is None else mask + padding


def _check_mask(attn_mask: Any, shape: tuple[int, int, int]) -> Any:
    """A mask of three dimensions."""
    if attn_mask is None:
        return None
    wanted = shape[1:] if attn_mask.dim() == 2 else shape
    if attn_mask.dim() not in (2, 3):
        raise EngineError(f"attn_mask's dimension {attn_mask.dim()} is not supported")
    if tuple(attn_mask.shape) != wanted:
        raise EngineError(
            f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {wanted}."
        )
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def _one_more(*masks: Any) -> Any:
    """Masks with a column that hides nothing: a key was added."""
    return tuple(None if mask is None else NN_FUNCTIONAL["pad"](mask, (0, 1)) for mask in masks)


@functional()
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Attention of several heads on (length, batch, features); gives the result and the weights (or None)."""
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    q, k, v, padding = query, key, value, key_padding_mask
    if not batched:
        same = (key is query, value is key)
        q = query.unsqueeze(1)  # type: ignore[attr-defined]
        k = q if same[0] else key.unsqueeze(1)  # type: ignore[attr-defined]
        v = k if same[1] else value.unsqueeze(1)  # type: ignore[attr-defined]
        padding = None if padding is None else padding.unsqueeze(0)  # type: ignore[attr-defined]
    length, batch, size = q.shape
    _check_sizes(q, k, v, embed_dim_to_check, num_heads, use_separate_proj_weight)
    mask, padding, is_causal = _masks(q, k, padding, attn_mask, num_heads, need_weights, is_causal)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else (in_proj_weight,)
    dropout_p = dropout_p if training else 0.0
    if need_weights or add_zero_attn or not bias_k is bias_v is static_k is static_v is None:
        q, k, v = _projected((q, k, v), weights, in_proj_bias)
        if bias_k is not None and bias_v is not None:
            if static_k is not None or static_v is not None:
                kind = "key" if static_k is not None else "value"
                raise AssertionError(f"bias cannot be added to static {kind}.")
            k = FUNCTIONS["cat"]([k, bias_k.repeat(1, batch, 1)])  # type: ignore[attr-defined]
            v = FUNCTIONS["cat"]([v, bias_v.repeat(1, batch, 1)])  # type: ignore[attr-defined]
            mask, padding = _one_more(mask, padding)
        head = size // num_heads
        q = q.reshape(length, batch * num_heads, head).transpose(0, 1)
        k = static_k if static_k is not None else k.reshape(k.shape[0], batch * num_heads, head).transpose(0, 1)
        v = static_v if static_v is not None else v.reshape(v.shape[0], batch * num_heads, head).transpose(0, 1)
        if add_zero_attn:
            zeros = k.new_zeros((batch * num_heads, 1, head))
            k, v = FUNCTIONS["cat"]([k, zeros], 1), FUNCTIONS["cat"]([v, zeros], 1)
            mask, padding = _one_more(mask, padding)
        if not need_weights:
            q, k, v = (x.view(batch, num_heads, x.shape[1], x.shape[2]) for x in (q, k, v))
    else:
        q, k, v = _projected_heads((q, k, v), weights, in_proj_bias, num_heads)
    mask, attention = _with_padding(mask, padding, batch, num_heads), None
    if need_weights:
        out, attention = _with_weights(q, k, v, mask, (batch, num_heads), dropout_p)
    else:
        out = _without_weights(q, k, v, mask, dropout_p, is_causal)
    out = NN_FUNCTIONAL["linear"](out.reshape(length * batch, size), out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out.shape[1])
    if attention is not None and average_attn_weights:
        attention = attention.mean(dim=1)
    if not batched:
        out = out.squeeze(1)
        attention = None if attention is None else attention.squeeze(0)
    return out, attention


def _with_weights(q: Any, k: Any, v: Any, mask: Any, heads: tuple[int, int], dropout_p: float) -> tuple[Any, Any]:
    """Attention step by step, for the sake of the probabilities."""
    scaled = q * math.sqrt(1.0 / float(q.shape[-1]))
    turned = k.transpose(-2, -1)
    scores = FUNCTIONS["bmm"](scaled, turned) if mask is None else FUNCTIONS["baddbmm"](mask, scaled, turned)
    weights = scores.softmax(-1)
    if dropout_p > 0.0:
        weights = NN_FUNCTIONAL["dropout"](weights, dropout_p)
    out = FUNCTIONS["bmm"](weights, v).transpose(0, 1)
    return out, weights.view(*heads, q.shape[1], k.shape[1])


def _without_weights(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, is_causal: bool) -> Any:
    """Attention of heads (batch, heads, length, size) as one operation."""
    if mask is not None:
        alone = mask.shape[0] == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if alone else mask.view(*q.shape[:2], mask.shape[1], k.shape[2])
    out = NN_FUNCTIONAL["scaled_dot_product_attention"](q, k, v, mask, dropout_p, is_causal)
    return out.permute(2, 0, 1, 3)

"""Operations below PyTorch's public ones that programs call by their own names: `torch._softmax_backward_data` and its kin."""

from __future__ import annotations

from typing import Any

from ...errors import EngineError
from ..faces.api import FUNCTIONS, NN_FUNCTIONAL, public
from ..faces.aten import FORMS
from ..faces.autocast import autocast
from .native_norms import native_batch_norm

for _name in ("_softmax_backward_data", "_log_softmax_backward_data"):
    public(_name, method=False)(FORMS[_name])


@public("_safe_softmax", method=False)
def safe_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Softmax along a dimension; where everything is -inf, zeros."""
    hidden = (input == -float("inf")).all(dim, keepdim=True)
    return input.masked_fill(hidden, 0).softmax(dim, dtype=dtype).masked_fill(hidden, 0)


@public("_chunk_cat", method=False, out=True)
def chunk_cat(tensors: Any, dim: int, num_chunks: int) -> Any:
    """Tensors beside each other, each cut into as many chunks along a dimension, which is filled up with zeros."""
    dim = _chunked_dim(tensors, dim, num_chunks)
    parts = []
    for x in tensors:
        missing = -x.shape[dim] % num_chunks
        filled = NN_FUNCTIONAL["pad"](x, [0, 0] * (x.dim() - 1 - dim) + [0, missing])
        parts.append(filled.reshape(*x.shape[:dim], num_chunks, -1))
    return FUNCTIONS["cat"](parts, dim + 1)


def _chunked_dim(tensors: Any, dim: int, num_chunks: int) -> int:
    """The dimension counted from the front; what cannot be cut so is refused."""
    if not tensors:
        raise EngineError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise EngineError("_chunk_cat expects positive num_chunks")
    if not all(x.numel() for x in tensors):
        raise EngineError("_chunk_cat expects non-empty tensor")
    if dim < 0:
        if len({x.dim() for x in tensors}) > 1:
            raise EngineError("_chunk_cat expects non-negative dim when input tensors have different ndims")
        dim += tensors[0].dim()
    if not all(dim < x.dim() for x in tensors):
        raise EngineError("_chunk_cat expects dim < ndim for all input tensors")
    if len({tuple(x.shape[:dim]) for x in tensors}) > 1:
        raise EngineError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return dim


def _within(input: Any, indices: Any) -> tuple[Any, ...]:
    """Places brought into the tensor, as an index."""
    pairs = zip(indices, input.shape, strict=False)
    return tuple(slice(None) if i is None else i.clamp(-n, n - 1) for i, n in pairs)


@public("_unsafe_masked_index", method=False)
def unsafe_masked_index(input: Any, mask: Any, indices: Any, fill: Any) -> Any:
    """What lies at places, and `fill` where the mask does not hold; there the places may be anywhere."""
    return input[_within(input, indices)].masked_fill(~mask, fill)


@public("_unsafe_masked_index_put_accumulate", method=False)
def unsafe_masked_index_put_accumulate(input: Any, mask: Any, indices: Any, values: Any) -> Any:
    """Values added at places where the mask holds."""
    places = [
        FUNCTIONS["arange"](n) if isinstance(i, slice) else i
        for i, n in zip(_within(input, indices), input.shape, strict=False)
    ]
    return input.index_put(tuple(places), values.masked_fill(~mask, 0), accumulate=True)


@public("_native_batch_norm_legit", method=False, out=True)
def native_batch_norm_legit(input: Any, weight: Any, bias: Any, *more: Any) -> Any:
    """`native_batch_norm` whose running statistics may be left out."""
    return native_batch_norm(input, weight, bias, *((None, None) if len(more) == 3 else ()), *more)


def _batch_norm_with_update(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, momentum: float, eps: float
) -> Any:
    found = native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return *found, input.new_empty(0, dtype=FUNCTIONS["tensor"]([0]).byte().dtype)


def _native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return grad_output * mask * scale


def _max_pool2d_with_indices_backward(
    grad_output: Any,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Any,
) -> Any:
    room = input.clone().zero_().flatten(-2)  # recorded, as PyTorch's is: the gradient of the input is zero
    return room.scatter_add(-1, indices.flatten(-2), grad_output.flatten(-2)).view(input.shape)


FORMS["_batch_norm_with_update"] = _batch_norm_with_update
FORMS["native_dropout_backward"] = _native_dropout_backward
FORMS["max_pool2d_with_indices_backward"] = _max_pool2d_with_indices_backward


@public("_native_multi_head_attention", method=False)
@autocast("lower")
def native_multi_head_attention(
    query: Any,
    key: Any,
    value: Any,
    embed_dim: int,
    num_head: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Any:
    """Attention of several heads on (batch, length, features). What a mask hides: 0 pairs, 1 keys of samples, 2 both."""
    if mask is not None and mask_type is None:
        raise EngineError("Mask Type should be defined")
    if mask is not None and mask_type == 2:
        mask = mask.reshape(-1, *mask.shape[-2:])
    q, k, v = (x.transpose(0, 1) for x in (query, key, value))
    out, weights = NN_FUNCTIONAL["multi_head_attention_forward"](
        q, k, v, embed_dim, num_head, qkv_weight, qkv_bias, None, None, False, 0.0, proj_weight, proj_bias,
        training=False, need_weights=need_weights, average_attn_weights=average_attn_weights,
        key_padding_mask=mask if mask_type == 1 else None, attn_mask=None if mask_type == 1 else mask,
    )  # fmt: skip
    return out.transpose(0, 1), weights

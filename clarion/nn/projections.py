"""Parts of PyTorch's attention that libraries with an attention of their own take from `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..errors import EngineError
from ..ops.faces.api import FUNCTIONS, NN_FUNCTIONAL


def _in_projection(
    q: Tensor, k: Tensor, v: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, b_q: Any = None, b_k: Any = None, b_v: Any = None
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Query, key and value, each by a layer of its own."""
    width = q.size(-1)
    for name, weight, given in (("query", w_q, q), ("key", w_k, k), ("value", w_v, v)):
        if tuple(weight.shape) != (width, given.size(-1)):
            raise AssertionError(
                f"expecting {name} weights shape of {(width, given.size(-1))}, but got {tuple(weight.shape)}"
            )
    linear = NN_FUNCTIONAL["linear"]
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value by one weight, in which the three lie below each other."""
    linear, stack = NN_FUNCTIONAL["linear"], FUNCTIONS["stack"]
    if q is k and k is v:
        return tuple(stack(linear(q, w, b).chunk(3, -1)).unbind())
    weights = w.chunk(3)
    biases = (None,) * 3 if b is None else b.chunk(3)
    return tuple(linear(x, each, bias) for x, each, bias in zip((q, k, v), weights, biases, strict=True))  # type: ignore[return-value]


def _none_or_dtype(input: Tensor | None) -> Any:
    """The type of a tensor that may be missing."""
    if input is not None and not isinstance(input, Tensor):
        raise EngineError("input to _none_or_dtype() must be None or torch.Tensor")
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """A mask to be added to scores: one of truth values gives minus infinity where it is true."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype.name != "bool":
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    return FUNCTIONS["zeros_like"](mask, dtype=target_type).masked_fill_(mask, float("-inf"))  # type: ignore[no-any-return]


def _verify_batch_size(size: Any) -> None:
    """Batch statistics need more than one value for each channel."""
    values = size[0]
    for n in size[2:]:
        values *= n
    if values == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")

"""Functions of the main namespace that those of `torch.nn.functional` are made of in PyTorch.

They take a number for the reduction (0 none, 1 mean, 2 sum) or the mode, and check less. Their reduction is none if
nothing is said: PyTorch's own signature says mean, but its parser reads the word as 0.
"""

from __future__ import annotations

from typing import Any

from ...core.devices import xp_of
from ...core.dtypes import broadcast_shapes, f64, i64
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError
from ..faces.api import NN_FUNCTIONAL, no_gradient, public
from ..faces.autocast import autocast
from ..layers.embedding_bag import largest_places
from .pointwise import divergence, logits_loss, reduce_all


def _number(name: str, value: Any, position: int) -> int:
    if not isinstance(value, int):
        raise ArgumentTypeError(
            f"{name}(): argument 'reduction' (position {position}) must be int, not {type(value).__name__}"
        )
    return value if value in (1, 2) else 0


@public(method=False)
@autocast("float32")
def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Any:
    """The Kullback-Leibler divergence of `target` from exp(input)."""
    return reduce_all(divergence(input, target, log_target), _number("kl_div", reduction, 3))


@public(method=False)
@autocast("float32")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0
) -> Any:
    """`binary_cross_entropy(sigmoid(input), target)`, without its overflow."""
    number = _number("binary_cross_entropy_with_logits", reduction, 5)
    whole = broadcast_shapes(input._array.shape, target._array.shape)
    if target._array.shape != whole:
        raise ShapeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(whole)}"
        )
    no_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    return logits_loss(input.expand(whole), target, weight, pos_weight, number)


@public(method=False)
@autocast("float32")
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """max(0, -target * (input1 - input2) + margin), of shapes that broadcast."""
    lack = (-target * (input1 - input2) + float(margin)).clamp_min(0)
    return reduce_all(lack, _number("margin_ranking_loss", reduction, 5))


@public(method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norm over all dimensions but one (all of them for -1), of a shape that broadcasts."""
    if dim == -1:
        return v.norm(pow)
    kept = v.transpose(0, dim)
    shape = (kept.shape[0], *(1,) * (v.dim() - 1))
    return kept.reshape(kept.shape[0], -1).norm(pow, 1).reshape(shape).transpose(0, dim)


MODES = ("sum", "mean", "max")


@public(method=False)
def embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The rows of each bag together; the bag of each index, the sizes of the bags, and which rows were the largest.

    As in PyTorch, a sum computes no sizes (they are 0), and in single precision no bags unless indices are left out.
    """
    if mode not in (0, 1, 2):
        raise EngineError("`mode` must be sum, mean, or max.")
    if per_sample_weights is not None:
        if mode:
            raise EngineError("embedding_bag: per_sample_weights only supported with mode='sum'")
        if per_sample_weights._array.size != indices._array.size:
            raise EngineError(
                "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got false."
            )
    found = NN_FUNCTIONAL["embedding_bag"](
        indices,
        weight,
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=MODES[mode],
        sparse=sparse,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    count = found._array.shape[0]
    xp = xp_of(indices._array)
    bag = xp.searchsorted(offsets._array[:count], xp.arange(indices._array.size), "right") - 1
    if mode == 0:
        sizes = xp.zeros(count, i64)
        bag = bag if padding_idx is not None or weight._array.dtype == f64 else bag[:0]
        return found, new_tensor(bag), new_tensor(sizes), new_tensor(sizes.copy())
    kept = slice(None) if padding_idx is None else indices._array != padding_idx % weight.shape[0]
    sizes = xp.bincount(bag[kept], minlength=count)
    rows = sizes.copy()
    if mode == 2:
        rows = largest_places(weight._array, indices._array[kept], bag[kept], count)
    return found, new_tensor(bag), new_tensor(sizes), new_tensor(rows)

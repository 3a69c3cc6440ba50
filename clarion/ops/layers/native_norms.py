"""The norms in their native forms, which also give the statistics they used: `torch.native_layer_norm` and its kin."""

from __future__ import annotations

from typing import Any

from ...core import modes
from ...errors import EngineError
from ..faces.api import FUNCTIONS, public
from .batch_norm import _torch_batch_norm, _torch_group_norm
from .normalization import layer_norm


def _precise(input: Any, weight: Any) -> Any:
    """The input in the type of the parameters: statistics have that."""
    return input if weight is None else input.to(weight.dtype)


def _statistics(input: Any, dims: tuple[int, ...], keepdim: bool) -> tuple[Any, Any]:
    """Variance (of all there is) and mean."""
    return FUNCTIONS["var_mean"](input.detach(), dims, correction=0, keepdim=keepdim)  # type: ignore[no-any-return]


@public(method=False)
def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """`layer_norm`, the means and one over the standard deviations."""
    out = layer_norm(input, normalized_shape, weight, bias, eps)
    var, mean = _statistics(_precise(input, weight), tuple(range(-len(normalized_shape), 0)), True)
    return out, mean, (var + eps).rsqrt()


@public(method=False)
def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """`group_norm`, and for each group of each image its mean and one over its standard deviation."""
    out = _torch_group_norm(input, group, weight, bias, eps)
    # As PyTorch's, and unlike those of the other norms, they have gradients.
    var, mean = FUNCTIONS["var_mean"](_precise(input, weight).reshape(N, group, C // group * HxW), (-1,), correction=0)
    return out, mean, (var + eps).rsqrt()


@public(method=False, out=True)
def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """`batch_norm`, the means and one over the standard deviations of this batch (nothing, when not training)."""
    out = _torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if not training:
        return out, input.new_empty(0), input.new_empty(0)
    var, mean = _statistics(_precise(input, weight), _but_channels(input), False)
    return out, mean, (var + eps).rsqrt()


@public(method=False)
def batch_norm_update_stats(input: Any, running_mean: Any, running_var: Any, momentum: float) -> tuple[Any, Any]:
    """Move the running statistics towards those of a batch; its means and variances."""
    if not input._array.size:
        raise EngineError(f"input tensor must have at least one element, but got input_sizes = {list(input.shape)}")
    var, mean = _statistics(input, _but_channels(input), False)
    count = input._array.size // input.shape[1]
    with modes.no_grad():
        for running, new in ((running_mean, mean), (running_var, var * (count / max(count - 1, 1)))):
            if running is not None:
                running.mul_(1 - momentum).add_(new, alpha=momentum)
    return mean, var


def _but_channels(input: Any) -> tuple[int, ...]:
    return tuple(d for d in range(input.dim()) if d != 1)

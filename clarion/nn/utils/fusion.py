"""`torch.nn.utils.fusion`: a normalization that is done by the weights of the layer before it."""

from __future__ import annotations

import copy
from typing import Any

from ...ops.faces.api import FUNCTIONS
from ..parameter import Parameter


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what `conv` and then `bn` do; both are in evaluation mode."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """Weight and bias of that convolution."""
    scale, shift, bias = _parts(bn_rm, bn_rv, bn_eps, bn_w, bn_b, conv_b)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.dim() - 2)).to(conv_w.dtype)
    return _parameters(weight, conv_w, bias * scale + shift, conv_b)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what `linear` and then `bn` do."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Weight and bias of that layer."""
    scale, shift, bias = _parts(bn_rm, bn_rv, bn_eps, bn_w, bn_b, linear_b)
    weight = linear_w * scale.unsqueeze(-1).to(linear_w.dtype)
    return _parameters(weight, linear_w, bias * scale + shift, linear_b)


def _parameters(weight: Any, old_weight: Any, bias: Any, old_bias: Any) -> tuple[Parameter, Parameter]:
    """As ready for gradients as those before; a bias there was not is like a new one."""
    trained = True if old_bias is None else old_bias.requires_grad
    return Parameter(weight.detach(), old_weight.requires_grad), Parameter(bias.detach(), trained)


def _parts(mean: Any, var: Any, eps: float, weight: Any, bias: Any, before: Any) -> tuple[Any, Any, Any]:
    """A normalization as a factor and a shift, and the bias before it."""
    zeros = FUNCTIONS["zeros_like"](mean)
    scale = FUNCTIONS["rsqrt"](var + eps) * (FUNCTIONS["ones_like"](mean) if weight is None else weight)
    return scale, (zeros if bias is None else bias) - mean * scale, zeros if before is None else before

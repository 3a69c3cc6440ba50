"""Batch, instance and group normalization, and normalization across neighbouring channels."""

from __future__ import annotations

import math
from typing import Any

from ...core.devices import HALVES, xp_of
from ...core.dtypes import HALF, Size, f32
from ...core.inplace import wrote
from ...core.op import Op
from ...errors import ArgumentValueError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels.portable.layers.batch_norm import move, statistics
from ...kernels.registry import RawNamespace, raw
from ..faces.api import NN_FUNCTIONAL, functional, no_gradient, public
from .pooling import refuse_types

# Backward saves the input and the statistics. Second derivatives have to know how the statistics depend on the input,
# so that the rules on Tensors compute them once more.


def _centered(up: Any, normal: Any, rstd: Any, dims: tuple[int, ...], count: int, ops: Any) -> Any:
    """The gradient of the input, spelled out."""
    along = ops.sum(up * normal, dims, True) / count
    return (up - ops.sum(up, dims, True) / count - normal * along) * rstd


def _normal(x: Any, dims: tuple[int, ...], count: int, eps: float, ops: Any) -> tuple[Any, Any]:
    """The normalized input and 1 / its standard deviation, spelled out."""
    centered = x - ops.sum(x, dims, True) / count
    rstd = ops.rsqrt(ops.sum(centered * centered, dims, True) / count + eps)
    return centered * rstd, rstd


def _batch_norm_rule(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, training: bool, eps: float, needs: Any, ops: Any
) -> Any:
    if isinstance(ops, RawNamespace):
        return (*ops.batch_norm_backward(g, x, weight, mean, rstd, training, needs), None, None)
    shape = (1, x.shape[1], *(1,) * (x.ndim - 2))
    dims = (0, *range(2, x.ndim))
    up = g if weight is None else g * ops.view(weight, shape)
    if training:
        count = max(x.shape[0] * math.prod(x.shape[2:]), 1)
        normal, scale = _normal(x, dims, count, eps, ops)
        gx = _centered(up, normal, scale, dims, count, ops) if needs[0] else None
    else:
        normal = (x - ops.view(mean, shape)) * ops.view(rstd, shape)
        gx = up * ops.view(rstd, shape) if needs[0] else None
    gw = ops.sum(g * normal, dims, False) if needs[1] else None
    return gx, gw, ops.sum(g, dims, False) if needs[2] else None, None, None


batch_norm_op = Op(
    "batch_norm", "x weight? bias? running_mean? running_var?", "training eps", outputs="out mean rstd",
    node="NativeBatchNormBackward0", saved_as={"input": "x", "result1": "mean", "result2": "rstd"}, traits="layer normalizes fused",
)  # fmt: skip
batch_norm_op.vjp(_batch_norm_rule)


def _group_norm_rule(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, groups: int, eps: float, needs: Any, ops: Any
) -> Any:
    if isinstance(ops, RawNamespace):
        return ops.group_norm_backward(g, x, weight, mean, rstd, groups, needs)
    channels = (1, x.shape[1], *(1,) * (x.ndim - 2))
    count = math.prod(x.shape[1:]) // groups
    rows = (x.shape[0], groups, count)
    normal, scale = _normal(ops.reshape(x, rows), (2,), max(count, 1), eps, ops)
    gx = None
    if needs[0]:
        up = ops.reshape(g if weight is None else g * ops.view(weight, channels), rows)
        gx = ops.reshape(_centered(up, normal, scale, (2,), max(count, 1), ops), x.shape)
    dims = (0, *range(2, x.ndim))
    gw = ops.sum(g * ops.reshape(normal, x.shape), dims, False) if needs[1] else None
    return gx, gw, ops.sum(g, dims, False) if needs[2] else None


group_norm_op = Op(
    "group_norm", "x weight? bias?", "groups eps", outputs="out mean rstd", node="NativeGroupNormBackward0",
    saved_as={"input": "x", "result1": "mean", "result2": "rstd", "group": "groups"}, traits="layer normalizes",
)  # fmt: skip
group_norm_op.vjp(_group_norm_rule)


# Batch norm ----------------------------------------------------------------------------------------------------------


def _refuse(input: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, training: bool) -> None:
    if (running_mean is not None and running_mean._rg) or (running_var is not None and running_var._rg):
        no_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
    x = input._array
    if x.dtype.kind not in "fV":
        raise NotSupportedError(f"\"batch_norm\" not implemented for '{input.dtype.old}'")
    channels = x.shape[1] if x.ndim > 1 else 0
    if training and channels and _all_fit(channels, x.dtype, running_mean, running_var, weight, bias):
        return
    named = (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias))
    for name, each in named:
        if each is None:
            if not training and name.startswith("running"):
                raise EngineError(f"{name} must be defined in evaluation mode")
        elif each._array.size != channels:
            raise ShapeError(f"{name} should contain {channels} elements not {each._array.size}")
    for _, each in named if x.size else ():
        if each is not None and each._array.dtype != x.dtype and (each._array.dtype != f32 or x.dtype not in HALF):
            raise DtypeError("mixed dtype (CPU): all inputs must share same datatype.")
    if x.ndim < 2 and x.size:
        raise ShapeError(f"Expected an input with a dimension of channels, but got {list(x.shape)}")


def _all_fit(channels: int, kind: Any, *each: Any) -> bool:
    """Is nothing to be refused?"""
    for values in each:
        if values is not None:
            array = values._array
            if array.size != channels or (array.dtype is not kind and (array.dtype is not f32 or kind not in HALF)):
                return False
    return True


@public("batch_norm", method=False)
def _torch_batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Zero mean and unit variance of each channel over a batch, then weight and bias."""
    _refuse(input, running_mean, running_var, weight, bias, training)
    if input._array.ndim < 2:  # no channels, and nothing in them
        return input.clone()
    if not training:
        return batch_norm_op.call(input, weight, bias, running_mean, running_var, False, eps)[0]
    out, mean, rstd = batch_norm_op.call(input, weight, bias, None, None, True, eps)
    if running_mean is not None or running_var is not None:
        running = [None if t is None else t._array for t in (running_mean, running_var)]
        raw.move_statistics(*running, input._array, mean._array, rstd._array, momentum, eps)
        for moved in (running_mean, running_var):
            if moved is not None and input._array.size:
                wrote(moved)
    return out


@functional()
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Zero mean and unit variance of each channel over a batch, then weight and bias.

    In training the batch's own statistics are used, and the running ones moved towards them by `momentum`.
    """
    if training:
        _refuse_single(input._array.shape)
        if eps <= 0:
            raise ArgumentValueError(f"batch_norm eps must be positive during training, but got {eps}")
    elif eps < 0:
        raise ArgumentValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return _torch_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def _refuse_single(shape: Any) -> None:
    if math.prod((shape[0], *shape[2:])) == 1:
        told = Size(shape) if type(shape) is tuple else shape
        raise ArgumentValueError(
            f"Expected more than 1 value per channel when training, got input size {told}\n"
            "The variance of one value is zero: use a larger batch, drop the last one (drop_last=True), or eval()."
        )


# Instance norm: every image is a batch of its own --------------------------------------------------------------------


@public("instance_norm", method=False)
def _torch_instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Zero mean and unit variance of each channel of each image, then weight and bias."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise EngineError("Expected running_mean and running_var to be defined when use_input_stats is false")
    shape = input._array.shape
    n, c = shape[:2]
    _refuse(input, running_mean, running_var, weight, bias, use_input_stats)
    alone = use_input_stats and running_mean is None and running_var is None
    if alone and type(input._array) in HALVES and input._array.size:  # where groups have kernels, every channel is one
        return group_norm_op.call(input.contiguous(), weight, bias, c, eps)[0]
    single = input.contiguous().view(1, n * c, *shape[2:])
    weight, bias = (None if p is None else p.repeat(n) for p in (weight, bias))
    if not use_input_stats:
        mean, var = running_mean.repeat(n), running_var.repeat(n)
        return batch_norm_op.call(single, weight, bias, mean, var, False, eps)[0].view(shape)
    out, mean, rstd = batch_norm_op.call(single, weight, bias, None, None, True, eps)
    if n and (running_mean is not None or running_var is not None):
        found = statistics(xp_of(rstd._array), single._array, mean._array, rstd._array, eps)
        for running, value in zip((running_mean, running_var), found, strict=True):
            if running is not None:
                move(running._array, value.reshape(n, c).mean(axis=0), momentum)
                wrote(running)
    return out.view(shape)


@functional()
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Zero mean and unit variance of each channel of each image, then weight and bias."""
    shape = input._array.shape
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ArgumentValueError(
            f"Expected more than 1 spatial element when training, got input size {Size(shape)}\n"
            "The variance of one value is zero."
        )
    return _torch_instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


# Group norm ----------------------------------------------------------------------------------------------------------


@functional()
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Zero mean and unit variance over groups of channels of each image, then weight and bias."""
    shape = input._array.shape
    if len(shape) < 2:
        raise EngineError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0:
        raise EngineError(f"Expected num groups to be greater than 0, got {num_groups}")
    _refuse_single([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return _torch_group_norm(input, num_groups, weight, bias, eps)


@public("group_norm", method=False)
def _torch_group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True
) -> Any:
    """Zero mean and unit variance over groups of channels of each image, then weight and bias."""
    shape = input._array.shape
    if shape[1] % num_groups:
        raise EngineError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {list(shape)} and "
            f"num_groups={num_groups}"
        )
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._array.shape != (shape[1],):
            raise ShapeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(each._array.shape)} and input of shape {list(shape)}"
            )
    refuse_types("GroupNormKernelImpl", input, "biuc")
    return group_norm_op.call(input, weight, bias, num_groups, eps)[0]


# Local response ------------------------------------------------------------------------------------------------------


@functional()
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """The input over a power of the mean square of `size` neighbouring channels."""
    shape = input._array.shape
    if len(shape) < 3:
        raise ArgumentValueError(
            f"Expected 3D or higher dimensionality                          input (got {len(shape)} dimensions)"
        )
    if not input._array.size:
        return input
    pad, square = NN_FUNCTIONAL["pad"], input.mul(input)
    if len(shape) == 3:
        square = pad(square.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2))
        mean = NN_FUNCTIONAL["avg_pool2d"](square, (size, 1), stride=1).squeeze(1)
    else:
        square = square.view(shape[0], 1, shape[1], shape[2], -1)
        square = pad(square, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean = NN_FUNCTIONAL["avg_pool3d"](square, (size, 1, 1), stride=1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)

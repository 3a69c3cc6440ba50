"""Initial values of parameters: the same draws as PyTorch's, in the same order. All write in place, unrecorded."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ..core import modes
from ..core.devices import HOST, kind_of, to_host, write
from ..core.inplace import wrote
from ..core.tensor import Tensor
from ..errors import ArgumentValueError
from ..kernels import initial
from ..ops.random.generator import source

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal",
    "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal",
    "orthogonal_", "sparse", "sparse_", "trunc_normal_", "uniform", "uniform_", "xavier_normal", "xavier_normal_",
    "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip

_LINEAR = frozenset(
    ["linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"]
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The recommended factor for what follows the layer."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif not isinstance(param, bool) and isinstance(param, (int, float)):
            slope = param
        else:
            raise ArgumentValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ArgumentValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform between a and b."""
    with modes.no_grad():
        return tensor.uniform_(a, b, generator=generator)  # type: ignore[attr-defined,no-any-return]


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normal."""
    with modes.no_grad():
        return tensor.normal_(mean, std, generator=generator)  # type: ignore[attr-defined,no-any-return]


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One value everywhere."""
    with modes.no_grad():
        return tensor.fill_(val)  # type: ignore[attr-defined,no-any-return]


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix."""
    if tensor.ndim != 2:
        raise ArgumentValueError("Only tensors with 2 dimensions are supported")
    return _put(tensor, lambda: HOST.xp.eye(*tensor._array.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Convolutions that pass their input through."""
    if tensor.ndim not in (3, 4, 5):
        raise ArgumentValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = tensor._array.shape
    if shape[0] % groups:
        raise ArgumentValueError("dim 0 must be divisible by groups")
    return _put(tensor, lambda: initial.dirac(shape, groups))


def _put(tensor: Tensor, compute: Callable[[], Any]) -> Tensor:
    """Write what the host computes, if there is anything to write to."""
    array = tensor._array
    write(array, kind_of(array).computed(array.shape, array.dtype, compute))
    wrote(tensor)
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    shape = tensor._array.shape
    if len(shape) < 2:
        raise ArgumentValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Glorot's uniform initialisation."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Glorot's normal initialisation."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor._array.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=3)
        return None
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """He's uniform initialisation."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """He's normal initialisation."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A (semi-)orthogonal matrix."""
    if tensor.ndim < 2:
        raise ArgumentValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor._array.size:
        return tensor
    array = tensor._array
    return _put(tensor, lambda: initial.orthogonal(source("orthogonal_", generator), array.shape, array.dtype, gain))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, with a share of each column zero."""
    if tensor.ndim != 2:
        raise ArgumentValueError("Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor._array.shape[0])
    normal_(tensor, 0, std, generator)
    return _put(tensor, lambda: initial.sparse(to_host(tensor._array), zeros))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal, with what falls outside [a, b] drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            UserWarning,
            stacklevel=2,
        )
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    draw = initial.truncated_normal if inside > 0.3 else initial.rejected_uniforms
    array = tensor._array
    return _put(tensor, lambda: draw(source("trunc_normal_", generator), array.shape, array.dtype, mean, std, a, b))


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_


def _old_name(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    new = function.__name__
    old = new[:-1]

    def deprecated(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    deprecated.__name__ = old
    return deprecated


uniform = _old_name(uniform_)
normal = _old_name(normal_)
constant = _old_name(constant_)
eye = _old_name(eye_)
dirac = _old_name(dirac_)
xavier_uniform = _old_name(xavier_uniform_)
xavier_normal = _old_name(xavier_normal_)
kaiming_uniform = _old_name(kaiming_uniform_)
kaiming_normal = _old_name(kaiming_normal_)
orthogonal = _old_name(orthogonal_)
sparse = _old_name(sparse_)

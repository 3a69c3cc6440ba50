"""Softmax, its logarithm, and log-sum-exp."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.description import normalize_dim, whole
from ...core.dtypes import dtype as Dtype
from ...core.dtypes import meant
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, not_a_tensor
from ..faces.api import functional, public, with_numpys_names
from ..faces.typed import TypedOp
from ..reductions.sums import restore_dims

softmax_op = TypedOp("softmax", "x", "dim", traits="softmax activation").refusing(
    "biuc", title="softmax_lastdim_kernel_impl"
)
softmax_op.vjp(x=lambda g, out, dim, ops: ops.softmax_backward(g, out, dim))
softmax_op.jvp(lambda dx, out, dim, ops: ops.softmax_backward(dx, out, dim))

softmax_backward_op = Op("softmax_backward", "gy out", "dim", outputs="gx", node="SoftmaxBackwardDataBackward0")
softmax_backward_op.vjp(
    gy=lambda g, out, dim, ops: ops.softmax_backward(g, out, dim),
    out=lambda g, gy, out, dim, ops: softmax_bend(g, gy, out, dim, ops),
)


def softmax_bend(g: Any, gy: Any, out: Any, dim: int, ops: Any) -> Any:
    """How the gradient (gy - sum(gy out)) out moves with `out`."""
    return g * (gy - along(gy * out, dim, ops)) - gy * along(g * out, dim, ops)


def along(x: Any, dim: int, ops: Any) -> Any:
    """The sum along one dimension, kept; a tensor without dimensions is its own sum."""
    return ops.sum(x, (dim,), True) if x.ndim else x


log_softmax_op = TypedOp("log_softmax", "x", "dim", traits="softmax activation").refusing(
    "biuc", title="log_softmax_lastdim_kernel_impl"
)
log_softmax_op.vjp(x=lambda g, out, dim, ops: ops.log_softmax_backward(g, out, dim))
log_softmax_op.jvp(lambda dx, out, dim, ops: dx - ops.sum(ops.exp(out) * dx, (dim,), True) if out.ndim else dx * 0)

log_softmax_backward_op = Op(
    "log_softmax_backward", "gy out", "dim", outputs="gx", node="LogSoftmaxBackwardDataBackward0"
)
log_softmax_backward_op.vjp(
    gy=lambda g, out, dim, ops: g - along(g * ops.exp(out), dim, ops),
    out=lambda g, gy, out, dim, ops: -g * ops.exp(out) * along(gy, dim, ops),
)

logsumexp_op = Op("logsumexp", "x", "dim keepdim", promote="float", traits="softmax")
logsumexp_op.vjp(
    x=lambda g, x, dim, keepdim, out, ops: (
        restore_dims(g, x.shape, dim, keepdim, ops) * ops.exp(x - restore_dims(out, x.shape, dim, keepdim, ops))
    )
)


def converted(name: str, input: Any, dim: Any, dtype: Any) -> tuple[Any, int]:
    """The input in the type asked for, and the dimension counted from the front."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(name, "input", input, 1)
    if type(dim) is not int:
        given, dim = dim, whole(dim)
        if given is None:
            raise ArgumentTypeError(f'{name}() missing 1 required positional arguments: "dim"')
        if dim is None:
            raise ArgumentTypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(given).__name__}")
    if dtype is not None:
        dtype = meant(dtype)
        if not isinstance(dtype, Dtype):
            raise ArgumentTypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
        if input._array.dtype != dtype.numpy:
            input = input.to(dtype)
    return input, normalize_dim(dim, input._array.ndim)


@public(out=True)
def softmax(input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """exp(input), divided by its sum along `dim`."""
    return softmax_op.call(*converted("softmax", input, dim if axis is None else axis, dtype))


@public(out=True)
def log_softmax(input: Any, dim: Any = None, dtype: Any = None, *, axis: Any = None) -> Any:
    """The logarithm of the softmax, computed without leaving the logarithm."""
    return log_softmax_op.call(*converted("log_softmax", input, dim if axis is None else axis, dtype))


def implied_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension old code means when it gives none."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
    return 0 if ndim in (0, 1, 3) else 1


@functional("softmax")
def functional_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(input), divided by its sum along `dim`."""
    return softmax_op.call(*converted("softmax", input, _dim("softmax", input, dim, _stacklevel), dtype))


@functional("log_softmax")
def functional_log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of the softmax."""
    return log_softmax_op.call(*converted("log_softmax", input, _dim("log_softmax", input, dim, _stacklevel), dtype))


@functional()
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax(-input)."""
    return softmax_op.call(*converted("softmin", -input, _dim("softmin", input, dim, _stacklevel), dtype))


def _dim(name: str, input: Any, dim: int | None, stacklevel: int) -> int:
    return implied_dim(name, input.ndim, stacklevel) if dim is None else dim


@public(out=True)
@with_numpys_names
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """log(sum(exp(input))) along dimensions, without overflow."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("logsumexp", "input", input, 1)
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    dims = tuple(normalize_dim(d, input.ndim) for d in dims or range(input.ndim))
    if len(set(dims)) < len(dims):
        raise EngineError(f"dim {max(dims, key=dims.count)} appears multiple times in the list of dims")
    return logsumexp_op.call(input, dims if input.ndim else (), keepdim)

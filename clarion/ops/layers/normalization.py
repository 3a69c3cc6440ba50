"""Layer and root-mean-square normalization, unit vectors and cosines."""

from __future__ import annotations

from typing import Any

from ...core.devices import HOST, ndarray
from ...core.dtypes import f32, finfo
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import EngineError, not_a_tensor
from ...kernels.registry import RawNamespace
from ..faces.api import FUNCTIONS, functional, public

# What backward needs (the normalized input, the scale) are outputs too: second derivatives reach the input
# through them.

sum_of_rows_op = Op("sum_of_rows", "x", "ndim", node="SumBackward1", traits="total")
sum_of_rows_op.vjp(x=lambda g, x_shape, ops: ops.expand(g, x_shape)).jvp("each")


def _over(x: Any, ndim: int, ops: Any) -> Any:
    """The mean over the last `ndim` dimensions, kept as size 1."""
    dims = tuple(range(len(x.shape) - ndim, len(x.shape)))
    count = 1
    for d in dims:
        count *= x.shape[d]
    return ops.sum(x, dims, True) / max(count, 1)


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _norm_rule(name: str, centered: bool) -> Any:
    """Gradient of the input: raw, by one kernel; on Tensors, or where the inner outputs have gradients, spelled out."""

    def gradient(g: Any, weight: Any, normal: Any, scale: Any, ndim: int, ops: Any) -> Any:
        g_out, g_normal, g_scale = g
        if isinstance(ops, RawNamespace) and g_normal is None and g_scale is None:
            return getattr(ops, name)(g_out, weight, normal, scale, ndim)
        up = _plus(None if g_out is None else g_out if weight is None else g_out * weight, g_normal)
        result = None
        if up is not None:
            inner = up - normal * _over(up * normal, ndim, ops)
            result = (inner - _over(up, ndim, ops) if centered else inner) * scale
        if g_scale is not None:
            count = 1
            for n in normal.shape[len(normal.shape) - ndim :]:
                count *= n
            result = _plus(result, normal * (-g_scale * scale * scale / count))
        return result

    return gradient


_layer_norm_input = _norm_rule("layer_norm_backward", True)
_rms_norm_input = _norm_rule("rms_norm_backward", False)


def _layer_norm_rule(
    g: Any, weight: Any, normal: Any, rstd: Any, ndim: int, needs: Any, before: Any, ops: Any
) -> Any:  # fmt: skip
    g_out = g[0]
    if isinstance(ops, RawNamespace) and g[1] is None and g[2] is None:
        return ops.layer_norm_gradients(g_out, weight, normal, rstd, ndim, needs, before)
    of_x = _layer_norm_input(g, weight, normal, rstd, ndim, ops) if needs[0] else None
    return (
        of_x if before is None else of_x + before,
        ops.sum_of_rows(g_out * normal, ndim) if needs[1] and g_out is not None else None,
        ops.sum_of_rows(g_out, ndim) if needs[2] and g_out is not None else None,
    )


def _rms_norm_rule(g: Any, weight: Any, normal: Any, rrms: Any, ndim: int, needs: Any, ops: Any) -> Any:
    g_out = g[0]
    return (
        _rms_norm_input(g, weight, normal, rrms, ndim, ops) if needs[0] else None,
        ops.sum_of_rows(g_out * normal, ndim) if needs[1] and g_out is not None else None,
    )


def _tangents(dx: Any, dweight: Any, dbias: Any, weight: Any, normal: Any, scale: Any, ndim: int, ops: Any) -> Any:
    """Of (x - mean) * scale * weight + bias, whose `dx` is centered; of what is normal; of the scale."""
    d_normal = d_scale = None
    if dx is not None:
        along = _over(dx * normal, ndim, ops)
        d_normal = (dx - normal * along) * scale
        d_scale = -(scale * scale * along)
    of_x = d_normal if weight is None or d_normal is None else d_normal * weight
    return _plus(_plus(of_x, None if dweight is None else normal * dweight), dbias), d_normal, d_scale


def _layer_norm_tangents(
    dx: Any, dweight: Any, dbias: Any, weight: Any, normal: Any, rstd: Any, ndim: int, ops: Any
) -> Any:  # fmt: skip
    centered = None if dx is None else dx - _over(dx, ndim, ops)
    return _tangents(centered, dweight, dbias, weight, normal, rstd, ndim, ops)


def _rms_norm_tangents(dx: Any, dweight: Any, weight: Any, normal: Any, rrms: Any, ndim: int, ops: Any) -> Any:
    return _tangents(dx, dweight, None, weight, normal, rrms, ndim, ops)


layer_norm_op = Op(
    "layer_norm", "x weight? bias?", "ndim eps", outputs="out normal rstd", grad_outputs=(0, 1, 2),
    node="NativeLayerNormBackward0", saved_as={"input": "x", "result2": "rstd"}, traits="layer normalizes fused",
)  # fmt: skip
layer_norm_op.vjp(_layer_norm_rule).jvp(_layer_norm_tangents)

rms_norm_op = Op(
    "rms_norm",
    "x weight?",
    "ndim eps",
    outputs="out normal rrms",
    grad_outputs=(0, 1, 2),
    node="FusedRmsNormBackward0",
    traits="layer normalizes",
)
rms_norm_op.vjp(_rms_norm_rule).jvp(_rms_norm_tangents)


def _check_shapes(normalized_shape: Any, input: Any, weight: Any, bias: Any = None) -> int:
    """The number of dimensions that are normalized."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not isinstance(input, Tensor):
        raise not_a_tensor("layer_norm", "input", input, 1)
    have = input._array.shape
    if not shape:
        raise EngineError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {list(shape)}"
        )
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._array.shape != shape:
            raise EngineError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(each._array.shape)} and normalized_shape = {list(shape)}"
            )
    if have[-len(shape) :] != shape:
        wanted = ", ".join(["*", *map(str, shape)])
        raise EngineError(
            f"Given normalized_shape={list(shape)}, expected input with shape [{wanted}], but got input of size"
            f"{list(have)}"
        )
    return len(shape)


@functional()
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Zero mean and unit variance over the last dimensions, then weight and bias."""
    return layer_norm_op.call(input, weight, bias, _check_shapes(normalized_shape, input, weight, bias), eps)[0]


@public("layer_norm", method=False)
def _layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    return layer_norm(input, normalized_shape, weight, bias, eps)


@functional()
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """The input over its root mean square in the last dimensions, times weight."""
    ndim = _check_shapes(normalized_shape, input, weight)
    if eps is None:
        kind = input._array.dtype
        eps = float(finfo(kind).eps) if kind.kind == "f" and kind.itemsize > 2 else float(finfo(f32).eps)
    return rms_norm_op.call(input, weight, ndim, eps)[0]


FUNCTIONS["rms_norm"] = rms_norm


@functional()
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """The input divided by its p-norm along a dimension."""
    size = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / size if out is None else FUNCTIONS["div"](input, size, out=out)


@functional()
@public(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between two tensors along a dimension."""
    alike = isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1._array.shape == x2._array.shape
    if not alike or x1._array.dtype is not x2._array.dtype or x1._array.dtype.kind != "f":
        kind = FUNCTIONS["result_type"](x1, x2)
        if not kind.is_floating_point:
            raise EngineError(f"expected common dtype to be floating point, yet common dtype is {kind.old}")
        # As PyTorch's: norms are taken in the types that the tensors have.
        x1, x2 = (x if x.dtype.is_floating_point else x.to(kind) for x in (x1, x2))
        x1, x2 = FUNCTIONS["broadcast_tensors"](x1, x2)
    a, b = (x / _at_least(x.norm(2, dim, keepdim=True), eps) for x in (x1, x2))
    return (a * b).sum(dim)


def _at_least(size: Any, eps: float) -> Any:
    # As PyTorch's: the norm is raised to eps without its gradient knowing.
    array = size._array
    if type(array) is ndarray and array.size and HOST.xp.minimum.reduce(array, None) >= eps:
        return size
    return size + (size.detach().clamp_min(eps) - size.detach())


@functional()
@public(method=False)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)

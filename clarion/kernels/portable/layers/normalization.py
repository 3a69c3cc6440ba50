"""Layer and root-mean-square normalization over the trailing dimensions."""

from __future__ import annotations

import math
from typing import Any

from ...quiet import quietly
from ...registry import kernel, raw
from ..reductions.sums import add_up


def as_rows(x: Any, ndim: int) -> Any:
    """The normalized dimensions as one, the others as another."""
    if ndim == 1 and x.ndim == 2:
        return x
    n = math.prod(x.shape[x.ndim - ndim :])
    return x.reshape(-1, n) if n else x.reshape(math.prod(x.shape[: x.ndim - ndim]), 0)


def stat_shape(x: Any, ndim: int) -> tuple[int, ...]:
    return tuple(x.shape[: x.ndim - ndim]) + (1,) * ndim


def affine(xp: Any, normal: Any, weight: Any, bias: Any) -> Any:
    """normal * weight + bias, never sharing memory with `normal`."""
    if weight is None:
        return normal.copy() if bias is None else normal + bias
    out = normal * weight
    if bias is not None:
        out += bias
    return out


@kernel("layer_norm")
@quietly
def layer_norm(xp: Any, x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> Any:
    """The result, the normalized input before weight and bias, and 1 / its standard deviation."""
    rows = as_rows(x, ndim)
    normal = rows - xp.mean(rows, axis=-1, keepdims=True)
    rstd = 1 / xp.sqrt(xp.mean(normal * normal, axis=-1, keepdims=True) + eps)
    normal = (normal * rstd).reshape(x.shape)
    return affine(xp, normal, weight, bias), normal, rstd.reshape(stat_shape(x, ndim))


@kernel("layer_norm_backward")
@quietly
def layer_norm_backward(xp: Any, g: Any, weight: Any, normal: Any, rstd: Any, ndim: int) -> Any:
    """Gradient of the input."""
    upstream = as_rows(g if weight is None else g * weight, ndim)
    rows = as_rows(normal, ndim)
    along = xp.mean(upstream * rows, axis=-1, keepdims=True)
    result = (upstream - xp.mean(upstream, axis=-1, keepdims=True) - rows * along) * rstd.reshape(-1, 1)
    return result.reshape(g.shape)


@kernel("rms_norm")
@quietly
def rms_norm(xp: Any, x: Any, weight: Any, ndim: int, eps: float) -> Any:
    """The result, the input divided by its root mean square, and 1 / that."""
    rows = as_rows(x, ndim)
    rrms = 1 / xp.sqrt(xp.mean(rows * rows, axis=-1, keepdims=True) + eps)
    normal = (rows * rrms).reshape(x.shape)
    return affine(xp, normal, weight, None), normal, rrms.reshape(stat_shape(x, ndim))


@kernel("rms_norm_backward")
@quietly
def rms_norm_backward(xp: Any, g: Any, weight: Any, normal: Any, rrms: Any, ndim: int) -> Any:
    """Gradient of the input."""
    upstream = as_rows(g if weight is None else g * weight, ndim)
    rows = as_rows(normal, ndim)
    along = xp.mean(upstream * rows, axis=-1, keepdims=True)
    return ((upstream - rows * along) * rrms.reshape(-1, 1)).reshape(g.shape)


def sum_of_rows(xp: Any, g: Any, ndim: int) -> Any:
    """The sum over all but the last `ndim` dimensions: gradients of weight and bias."""
    if g.ndim == ndim:
        return g
    return raw.sum_rows(g) if ndim == 1 else add_up(xp, g, tuple(range(g.ndim - ndim)), False)


kernel("sum_of_rows")(sum_of_rows)


@kernel("layer_norm_gradients")
def layer_norm_gradients(
    xp: Any, g: Any, weight: Any, normal: Any, rstd: Any, ndim: int, needs: Any, before: Any
) -> Any:
    """Gradients of input, weight and bias, those that are wanted; that of the input added to what came `before`."""
    of_x = raw.layer_norm_backward(g, weight, normal, rstd, ndim) if needs[0] else None
    return (
        of_x if before is None else of_x + before,
        raw.sum_of_rows(g * normal, ndim) if needs[1] else None,
        raw.sum_of_rows(g, ndim) if needs[2] else None,
    )

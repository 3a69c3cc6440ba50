"""Softmax and its kin along one dimension (counted from the front)."""

from __future__ import annotations

from typing import Any

from ...quiet import quietly
from ...registry import kernel


def _along(x: Any, dim: int) -> int | None:
    """The dimension; of a number all there is (dimension 0 of none is NumPy's own liberty)."""
    return dim if x.ndim else None


@kernel("softmax")
def softmax(xp: Any, x: Any, dim: int) -> Any:
    if 0 in x.shape:
        return xp.exp(x)  # which is as empty
    e = xp.exp(x - xp.max(x, axis=_along(x, dim), keepdims=True))
    return e / xp.sum(e, axis=_along(x, dim), keepdims=True)


@kernel("softmax_backward")
def softmax_backward(xp: Any, g: Any, out: Any, dim: int) -> Any:
    return (g - xp.sum(g * out, axis=_along(g, dim), keepdims=True)) * out


@kernel("log_softmax")
def log_softmax(xp: Any, x: Any, dim: int) -> Any:
    if 0 in x.shape:
        return xp.exp(x)
    x = x - xp.max(x, axis=_along(x, dim), keepdims=True)
    return x - xp.log(xp.sum(xp.exp(x), axis=_along(x, dim), keepdims=True))


@kernel("log_softmax_backward")
def log_softmax_backward(xp: Any, g: Any, out: Any, dim: int) -> Any:
    return g - xp.exp(out) * xp.sum(g, axis=_along(g, dim), keepdims=True)


@kernel("logsumexp")
@quietly
def logsumexp(xp: Any, x: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    if x.size == 0:
        return xp.log(xp.sum(xp.exp(x), axis=dim, keepdims=keepdim))
    top = xp.max(x.real, axis=dim, keepdims=True)
    top = xp.where(xp.isfinite(top), top, xp.zeros((), top.dtype))
    out = xp.log(xp.sum(xp.exp(x - top), axis=dim, keepdims=True)) + top
    return out if keepdim else xp.squeeze(out, axis=dim)

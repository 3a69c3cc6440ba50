"""Largest and smallest elements, and where they are."""

from __future__ import annotations

from typing import Any

from ...registry import kernel


@kernel("max_dim")
def max_dim(xp: Any, x: Any, dim: int, keepdim: bool) -> Any:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    if keepdim:
        return x.max(dim, keepdims=True), x.argmax(dim, keepdims=True)
    return x.max(dim), x.argmax(dim)


@kernel("min_dim")
def min_dim(xp: Any, x: Any, dim: int, keepdim: bool) -> Any:
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64)
    if keepdim:
        return x.min(dim, keepdims=True), x.argmin(dim, keepdims=True)
    return x.min(dim), x.argmin(dim)


@kernel("max_all")
def max_all(xp: Any, x: Any) -> Any:
    return x.max()


@kernel("min_all")
def min_all(xp: Any, x: Any) -> Any:
    return x.min()


@kernel("amax")
def amax(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return x.max(dim, keepdims=keepdim)


@kernel("amin")
def amin(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return x.min(dim, keepdims=keepdim)


@kernel("aminmax")
def aminmax(xp: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return x.min(dim, keepdims=keepdim), x.max(dim, keepdims=keepdim)


@kernel("argmax")
def argmax(xp: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return x.argmax(None if x.ndim == 0 else dim, keepdims=keepdim)


@kernel("argmin")
def argmin(xp: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return x.argmin(None if x.ndim == 0 else dim, keepdims=keepdim)


# Gradients -----------------------------------------------------------------------------------------


@kernel("tie_share")
def tie_share(xp: Any, x: Any, extreme: Any, dim: Any) -> Any:
    """The share of each element in the extreme value of its slice: ties share evenly. NaN is equal to NaN."""
    equal = x == extreme
    if x.dtype.kind == "f":
        equal |= xp.isnan(x) & xp.isnan(extreme)
    share = equal.astype(x.dtype)
    share /= xp.add.reduce(share, axis=dim, keepdims=True)
    return share


def _along(xp: Any, index: Any, dim: int, keepdim: bool) -> Any:
    return index if keepdim else xp.expand_dims(index, dim)


@kernel("pick_along")
def pick_along(xp: Any, x: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """The elements at `index` along `dim`."""
    if x.ndim == 0:
        return x
    picked = xp.take_along_axis(x, _along(xp, index, dim, keepdim), dim)
    return picked if keepdim else picked.reshape(index.shape)


@kernel("place_along")
def place_along(xp: Any, g: Any, index: Any, shape: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    """Zeros, with `g` put at `index` along `dim`; one place for each slice."""
    if not shape:
        return g
    whole = xp.zeros(shape, g.dtype)
    xp.put_along_axis(whole, _along(xp, index, dim, keepdim), _along(xp, g, dim, keepdim), dim)
    return whole


@kernel("add_along")
def add_along(xp: Any, g: Any, index: Any, dim: int) -> Any:
    """Zeros, with `g` added at `index` along `dim`; places may repeat."""
    whole = xp.zeros(g.shape, g.dtype)
    if g.ndim == 0:
        return whole + g
    places = [xp.arange(n).reshape((-1,) + (1,) * (g.ndim - i - 1)) for i, n in enumerate(g.shape)]
    places[dim] = index
    xp.add.at(whole, tuple(places), g)
    return whole


@kernel("all_finite")
def all_finite(xp: Any, x: Any) -> Any:
    """Is no element infinite or NaN?"""
    return xp.isfinite(x).all()

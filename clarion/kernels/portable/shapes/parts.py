"""Parts of an array as views, the adjoints that put a gradient back in place, and copies with a part replaced."""

from __future__ import annotations

from typing import Any

import numpy

from ...everywhere import from_host
from ...layout import blank, empty_like, laid_out, may_overlap, replace, replay, strided, turns
from ...registry import bind, kernel

ALL = slice(None)


@kernel("alias")
def alias(xp: Any, x: Any) -> Any:
    return x.view()


@kernel("select")
def select(xp: Any, x: Any, dim: int, index: int) -> Any:
    return x[(ALL,) * dim + (index, ...)]


@kernel("select_backward")
def select_backward(xp: Any, g: Any, shape: tuple[int, ...], dim: int, index: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    out[(ALL,) * dim + (index, ...)] = g
    return out


@kernel("slice")
def slice_(xp: Any, x: Any, dim: int, start: int, stop: int, step: int) -> Any:
    return x[(ALL,) * dim + (slice(start, stop, step),)]


@kernel("slice_backward")
def slice_backward(xp: Any, g: Any, shape: tuple[int, ...], dim: int, start: int, stop: int, step: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    out[(ALL,) * dim + (slice(start, stop, step),)] = g
    return out


@kernel("narrow_copy")
def narrow_copy(xp: Any, x: Any, dim: int, start: int, stop: int) -> Any:
    return x[(ALL,) * dim + (slice(start, stop),)].copy()


@kernel("unfold")
def unfold(xp: Any, x: Any, dim: int, size: int, step: int) -> Any:
    if x.ndim == 0:
        return x.reshape(1)[:size]
    count = (x.shape[dim] - size) // step + 1
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :], x.strides[dim])
    return strided(x, shape, strides)


@kernel("unfold_backward")
def unfold_backward(xp: Any, g: Any, shape: tuple[int, ...], dim: int, size: int, step: int) -> Any:
    out = xp.zeros(shape, g.dtype)
    if not shape:
        return g.sum().reshape(()) if size else out
    count = g.shape[dim]
    for k in range(size):
        out[(ALL,) * dim + (slice(k, k + step * (count - 1) + 1, step),)] += g[..., k]
    return out


# Views by strides ----------------------------------------------------------------------------------


@kernel("as_strided")
def as_strided(
    xp: Any, x: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int, layout: tuple[int, ...]
) -> Any:
    """Strides and offset in elements; the offset counts from the first element of `x`, `layout` is its strides."""
    return strided(x, size, tuple([s * x.itemsize for s in stride]), offset * x.itemsize)


def _positions(size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    out = numpy.full((), offset, numpy.int64)
    for n, s in zip(size, stride, strict=True):
        out = out[..., None] + numpy.arange(n, dtype=numpy.int64) * s
    return out


def _places(xp: Any, shape: Any, layout: Any, size: Any, stride: Any, offset: int) -> tuple[Any, Any, Any]:
    """Where the elements of an array and of its view lie in memory, and how many of the array's share each place (or 1)."""
    low = min(0, offset)
    inside, outside = _positions(shape, layout, 0) - low, _positions(size, stride, offset) - low
    count = 1 + max(inside.max(initial=0), outside.max(initial=0))
    shares = numpy.maximum(numpy.bincount(inside.reshape(-1), minlength=count), 1)
    return from_host(xp, inside), from_host(xp, outside), from_host(xp, shares)


@kernel("as_strided_backward")
def as_strided_backward(
    xp: Any,
    g: Any,
    shape: tuple[int, ...],
    size: tuple[int, ...],
    stride: tuple[int, ...],
    offset: int,
    layout: tuple[int, ...],
) -> Any:
    """Gradients go to places in memory, and from there to the elements of the input that lie in them."""
    inside, outside, shares = _places(xp, shape, layout, size, stride, offset)
    memory = xp.zeros(shares.shape, xp.float32 if g.dtype.itemsize == 2 else g.dtype)
    xp.add.at(memory, outside.reshape(-1), g.reshape(-1))
    return (memory[inside] / shares[inside]).astype(g.dtype)


@kernel("as_strided_copy")
def as_strided_copy(
    xp: Any, x: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int, layout: tuple[int, ...]
) -> Any:
    """The adjoint of `as_strided_backward`: reads from memory in which `x` lies with strides `layout`."""
    inside, outside, shares = _places(xp, x.shape, layout, size, stride, offset)
    memory = xp.zeros(shares.shape, xp.float32 if x.dtype.itemsize == 2 else x.dtype)
    xp.add.at(memory, inside.reshape(-1), (x / shares[inside]).reshape(-1))
    return memory[outside].astype(x.dtype)


# Views by the chain of operations that takes them ----------------------------------------------------


@kernel("view_take")
def view_take(xp: Any, x: Any, chain: Any, layout: Any) -> Any:
    """A copy of the view that `chain` describes, of an `x` with the strides of `layout`."""
    return replay(chain, laid_out(x, layout)).copy()


@kernel("view_put")
def view_put(xp: Any, part: Any, chain: Any, layout: Any) -> Any:
    """Zeros as `layout` says with `part` in the view that `chain` describes: the adjoint of `view_take`."""
    whole = blank(layout, xp)
    target = replay(chain, whole)
    if not may_overlap(target):
        replace(chain, whole, target, part)
        return whole
    # Elements that the view shows several times get the sum: let the view say which element is where.
    places = blank((layout[0], tuple([s // whole.itemsize * 8 for s in layout[1]]), numpy.dtype(numpy.int64)), xp)
    places[...] = xp.arange(whole.size).reshape(whole.shape)
    flat = xp.zeros(whole.size, xp.float32 if whole.dtype.itemsize == 2 else whole.dtype)
    part = part.conj() if turns(chain) else part
    xp.add.at(flat, replay(chain, places).reshape(-1), part.reshape(-1))
    return flat.reshape(whole.shape).astype(whole.dtype)


@kernel("view_scatter")
def view_scatter(xp: Any, x: Any, part: Any, chain: Any, layout: Any) -> Any:
    """`x` with the view that `chain` describes replaced by `part`."""
    whole = laid_out(x, layout)
    replace(chain, whole, replay(chain, whole), part)
    return whole


@kernel("view_clear")
def view_clear(xp: Any, x: Any, chain: Any, layout: Any) -> Any:
    """`x` with the view that `chain` describes set to zero."""
    return view_scatter(xp, x, 0, chain, layout)


def _scatter(name: str) -> None:
    """`name_scatter(x, src, …)`: a copy of `x` whose view `name(x, …)` is `src`."""

    def scatter(xp: Any, x: Any, src: Any, *params: Any) -> Any:
        whole = empty_like(x, None, xp)
        whole[...] = x
        bind(name)(whole, *params)[...] = src
        return whole

    kernel(f"{name}_scatter")(scatter)


for _name in ("select", "slice", "diagonal"):
    _scatter(_name)


@kernel("as_strided_scatter")
def as_strided_scatter(
    xp: Any, x: Any, src: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int, layout: tuple[int, ...]
) -> Any:
    whole = laid_out(x, (x.shape, tuple([s * x.itemsize for s in layout]), x.dtype))
    as_strided(xp, whole, size, stride, offset, layout)[...] = src
    return whole


# What views show, as copies ------------------------------------------------------------------------------


def _copied(view: str) -> Any:
    return lambda xp, x, *params: xp.array(bind(view)(x, *params), order="C", copy=True)


def _parts(view: str, copied: bool) -> Any:
    """The parts as a list: as many results as there are."""

    def parts(xp: Any, x: Any, *params: Any) -> list[Any]:
        found = bind(view)(x, *params)
        return [xp.array(part, order="C", copy=True) if copied else part for part in found]

    return parts


for _name in [
    "expand",
    "permute",
    "transpose",
    "t",
    "squeeze",
    "squeeze_dim",
    "squeeze_dims",
    "unsqueeze",
    "select",
    "slice",
    "unfold",
    "alias",
    "view_as_complex",
    "view_as_real",
]:
    kernel(f"{_name}_copy")(_copied(_name))
kernel("view_copy")(_copied("reshape"))
for _name in ("split", "split_with_sizes", "unbind"):
    kernel(f"{_name}_copy")(_parts(_name, True))
for _name in ("split", "split_with_sizes"):
    kernel(f"unsafe_{_name}")(_parts(_name, False))

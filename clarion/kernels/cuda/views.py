"""Results that need no copy: views without a detour, and parts that lie side by side already and are joined."""

from __future__ import annotations

import math
from typing import Any

import cupy

from ..registry import offer
from .arrays import over, strided


@offer("view", "views")
def view(x: Any, shape: tuple[int, ...]) -> Any:
    """The same memory in another shape."""
    made = x.reshape(shape)
    if x._c_contiguous or made.data.ptr == x.data.ptr:
        return made
    return cupy.reshape(x, shape, copy=False)  # (what cannot be had without a copy is refused there)


offer("reshape", "views", lambda x, shape: x.reshape(shape))
offer("transpose", "views", lambda x, dim0, dim1: x.swapaxes(dim0, dim1) if x.ndim else x)
offer("permute", "views", lambda x, dims: x.transpose(dims))


@offer("split", "views", accepts=lambda x, size, dim: size > 0 and x.shape[dim] % size == 0)
def split(x: Any, size: int, dim: int) -> Any:
    """Equal parts."""
    count = x.shape[dim] // size
    shape, strides, memory = (*x.shape[:dim], size, *x.shape[dim + 1 :]), x.strides, x.data
    step = strides[dim] * size
    kind = x.dtype
    return tuple([strided(shape, kind, memory + i * step, strides) for i in range(count)])


def _lie_together(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> bool:
    """Are the parts in one piece of memory, in order and without gaps? (As gradients of query, key and value are: triton/attention.py.)"""
    first = parts[0]
    if first is None:
        return False
    memory, place, kind = first.data.mem, first.data.ptr, first.dtype
    size = first.itemsize
    steps = tuple([math.prod(shape[d + 1 :]) * size for d in range(len(shape))])
    if place != memory.ptr:
        return False
    for part, n in zip(parts, sizes, strict=True):
        if part is None or part.data.mem is not memory or part.data.ptr != place or part.dtype != kind:
            return False
        if part.strides != steps or part.shape[dim] != n:
            return False
        place += n * steps[dim]
    return True


@offer("unsplit", "views", accepts=_lie_together)
def unsplit(parts: Any, shape: tuple[int, ...], sizes: tuple[int, ...], dim: int) -> Any:
    """The array that the parts lie in."""
    return over(shape, parts[0].dtype, parts[0].data)

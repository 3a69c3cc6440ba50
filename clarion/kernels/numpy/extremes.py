"""The largest and the smallest numbers: to find the place takes half as long as a reduction, and who knows it need not look again."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy

from ..blocks import SMALL
from ..registry import offer


@offer("max_all", "numpy")
def _max_all(x: Any) -> Any:
    return x.reshape(-1)[x.argmax()] if 0 < x.size <= SMALL and x.flags.c_contiguous else x.max()


@offer("min_all", "numpy")
def _min_all(x: Any) -> Any:
    return x.reshape(-1)[x.argmin()] if 0 < x.size <= SMALL and x.flags.c_contiguous else x.min()


@lru_cache(maxsize=64)
def _begins(shape: tuple[int, ...], dim: int) -> Any:
    """Where in memory the elements lie that are first along a dimension, without it."""
    after = math.prod(shape[dim + 1 :])
    return (numpy.arange(math.prod(shape[:dim]))[:, None] * (shape[dim] * after) + numpy.arange(after)).reshape(-1)


def _in_rows(x: Any, dim: int, keepdim: bool) -> bool:
    return x.ndim > 0 and x.size > 0 and x.flags.c_contiguous and x.size // x.shape[dim] <= 1 << 16


def _with_places(x: Any, places: Any, dim: int, keepdim: bool) -> Any:
    """The elements at places along a dimension, and the places."""
    after = math.prod(x.shape[dim + 1 :])
    numbers = places.reshape(-1) if after == 1 else places.reshape(-1) * after
    shape = (*x.shape[:dim], 1, *x.shape[dim + 1 :]) if keepdim else places.shape
    return x.reshape(-1).take(numbers + _begins(x.shape, dim)).reshape(shape), places.reshape(shape)


@offer("max_dim", "numpy", accepts=_in_rows)
def _max_dim(x: Any, dim: int, keepdim: bool) -> Any:
    return _with_places(x, x.argmax(dim), dim, keepdim)


@offer("min_dim", "numpy", accepts=_in_rows)
def _min_dim(x: Any, dim: int, keepdim: bool) -> Any:
    return _with_places(x, x.argmin(dim), dim, keepdim)

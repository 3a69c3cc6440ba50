"""The largest element of each window of a plane, and back: planes are shared among the threads."""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from ... import config
from .. import threads
from ..layout import as_image, channels_last
from ..portable.layers.pooling import laid_as_places
from ..registry import offer
from . import build, machine
from .kept import keeps
from .places import address
from .pooling_text import FIELDS, added, largest, run
from .text import module

Sizes = tuple[int, ...]
# Elements from which it is worth the call; and to compile it, where nothing is kept for the next time.
LEAST = 4 if config.COMPILE == "all" else 64 if keeps() else 2048
SHARED = 1 << 14  # and from which threads share it
_NO_WINDOWS = (0,) * 8
_Context = ctypes.c_int64 * len(FIELDS)
_PER, _PARALLEL = FIELDS.index("per"), FIELDS.index("parallel")


@functools.cache
def _functions() -> dict[str, Any] | None:
    """The compiled functions by name, or None where there are none."""
    scalars = {"float": "f", "double": "d"}
    made = [make(scalar) for scalar in scalars for make in (largest, added)]
    names = [f"{word}_{scalar}" for scalar in scalars for word in ("largest", "added")]
    try:
        engine = machine.compiled(module([*made, *[run(name) for name in names]]))
    except machine.NoCompiler:
        return None
    places = {name: machine.address(engine, name) for name in names}
    return {
        f"{word}_{kind}": machine.callable_at(places[f"{word}_{scalar}"], None, ctypes.c_void_p)
        for word in ("largest", "added")
        for scalar, kind in scalars.items()
    }


def _shares(planes: int, work: int) -> int:
    """How many planes are done at a time."""
    return planes if work < SHARED else max(1, -(-planes // (2 * threads.number())))


def max_pool(x: Any, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The largest element of each window, and its place in the input."""
    if x.dtype.char not in "fd" or not x.flags.c_contiguous or x.ndim < 2 or not x.size or min(out_size) < 1:
        return NotImplemented
    functions = _functions()
    if functions is None:
        return NotImplemented
    shape, much, known = _planned(x.shape, ksize, stride, padding, dilation, out_size)
    best, places = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    context = _Context.from_buffer_copy(known)
    context[0], context[1], context[2] = address(x), address(best), address(places)
    if much:
        context[_PER] = _shares(context[_PER], SHARED)
    context[_PARALLEL] = build.running().parallel
    functions["largest_f" if x.dtype.char == "f" else "largest_d"](context)
    return (as_image(best, x), as_image(places, x)) if channels_last(x) else (best, places)


@functools.lru_cache(maxsize=256)
def _planned(shape: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out_size: Sizes) -> Any:
    """The shape of the result, is it much work?, and what a loop is told of the sizes."""
    *lead, height, width = shape
    planes, out = math.prod(lead), (*lead, *out_size)
    sizes = (planes, planes, height, width, *out_size, *ksize, *stride, *padding, *dilation)  # as in `FIELDS`
    return out, math.prod(out) * math.prod(ksize) >= SHARED, bytes(_Context(0, 0, 0, *sizes, 0))


def adaptive_max_pool(x: Any, out_size: Sizes) -> Any:
    """The largest element of each of `out_size` windows that cover the input, if all are alike, and its place."""
    size = x.shape[-2:]
    if x.ndim < 3 or min(out_size) < 1 or any(m % o for m, o in zip(size, out_size, strict=True)):
        return NotImplemented
    if out_size == (1, 1) and x.dtype.char in "fd" and x.flags.c_contiguous and x.size:
        return _of_planes(x)
    ksize = tuple(m // o for m, o in zip(size, out_size, strict=True))
    return max_pool(x, ksize, ksize, (0, 0), (1, 1), out_size)


def _of_planes(x: Any) -> Any:
    """The largest element of each plane, and its place: of several NaNs the last."""
    planes = x.reshape(-1, x.shape[-2] * x.shape[-1])
    places = planes.argmax(axis=1)
    best = np.take_along_axis(planes, places[:, None], axis=1)
    no_number = np.isnan(best[:, 0])
    if no_number.any():
        places[no_number] = planes.shape[1] - 1 - np.isnan(planes[no_number, ::-1]).argmax(axis=1)
    shape = (*x.shape[:-2], 1, 1)
    return best.reshape(shape), places.reshape(shape)


def add_at_places(g: Any, places: Any, shape: Sizes, n: int) -> Any:
    """Zeros of a shape, with each element of g added at its place in the last n dimensions."""
    planes = math.prod(shape[: len(shape) - n])
    if g.dtype.char not in "fd" or places.dtype != np.int64 or not planes or not g.size or not math.prod(shape):
        return NotImplemented
    functions = _functions()
    if functions is None:
        return NotImplemented
    at, out = places if places.flags.c_contiguous else np.ascontiguousarray(places), np.empty(shape, g.dtype)
    g = g if g.flags.c_contiguous else np.ascontiguousarray(g)
    sizes = (
        planes,
        _shares(planes, out.size),
        out.size // planes,
        1,
        g.size // planes,
        1,
        *_NO_WINDOWS,
    )  # as in `FIELDS`
    functions[f"added_{g.dtype.char}"](
        _Context(address(g), address(out), address(at), *sizes, build.running().parallel)
    )
    return laid_as_places(out, places, n)


def make() -> None:
    """Make all offers."""
    offer("max_pool2d", "llvm", max_pool, least=LEAST)
    offer("adaptive_max_pool2d", "llvm", adaptive_max_pool, least=LEAST)
    offer("add_at_places", "llvm", add_at_places, least=LEAST // 4)

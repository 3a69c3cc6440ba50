"""Few pixels beside many weights, as at the end of a network for images: weights are read once, as they lie.

Elsewhere they are packed first, which many pixels repay. Here what the taps meet is written down instead (it is little), and
the convolution is one product with the weights as a matrix (few_text.py); the gradient by the input is one with its transpose.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import threads
from .. import build, machine
from ..places import address
from ..products.blocks import GRAIN
from ..products.calls import Products
from ..products.tiles import Shape
from ..text import module
from .few_text import FIELDS, functions
from .whole import laid

Sizes = tuple[int, ...]
PIXELS = 32  # of all images, at most
WEIGHTS = 1 << 18  # at least: fewer stay in the cache while they are packed


def is_for(weight: Any, images: int, size: Sizes) -> bool:
    """Are there few results, of many weights?"""
    return images * math.prod(size) <= PIXELS and weight.size >= WEIGHTS and math.prod(weight.shape[2:]) > 1


def _met(
    size: Sizes, out: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Iterator[tuple[Sizes, tuple[slice, ...], tuple[slice, ...]]]:
    """Of each tap that meets something of the image: its place in the kernel, the results, and what they meet."""
    for tap in itertools.product(*[range(k) for k in ksize]):
        results, places = [], []
        for t, n, m, s, p, d in zip(tap, size, out, stride, padding, dilation, strict=True):
            shift = t * d - p
            first, end = max(0, -(shift // s)), min(m, (n - 1 - shift) // s + 1)
            results.append(slice(first, max(first, end)))
            places.append(slice(first * s + shift, max(first, end) * s + shift - s + 1, s))
        if all(each.start < each.stop for each in results):
            yield tap, tuple(results), tuple(places)


@functools.cache
def _functions(shape: Shape) -> tuple[Any, Any]:
    """What gathers, and what multiplies."""
    engine = machine.compiled(module(functions(shape, machine.x86())))
    return tuple(
        machine.callable_at(machine.address(engine, name), None, ctypes.c_void_p, ctypes.c_int64)
        for name in ("gather", "rows")
    )  # type: ignore[return-value]


@functools.lru_cache(maxsize=128)
def _places(
    images: int, size: Sizes, out: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, steps: Sizes
) -> Any:
    """Where in a channel of all images each tap meets what each result is made of, in bytes; -1: nowhere. Longer by the longest vector."""
    lines = np.indices(size).reshape(len(size), *size)
    inside = sum(line * step for line, step in zip(lines, steps[2:], strict=True))
    count = math.prod(ksize) * images * math.prod(out)
    found = np.full(count + 16, -1, np.int64)
    table = found[:count].reshape(*ksize, images, *out)
    for tap, results, places in _met(size, out, ksize, stride, padding, dilation):
        for image in range(images):
            table[(*tap, image, *results)] = inside[places] + image * steps[0]
    return found


def correlate(
    shape: Shape, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes, bias: Any
) -> Any:
    """The convolution of x."""
    (n, c), (o, _, *ksize) = x.shape[:2], weight.shape
    places = _places(n, x.shape[2:], size, tuple(ksize), stride, padding, dilation, x.strides)
    matrix, pixels, count = np.ascontiguousarray(weight).reshape(o, -1), n * math.prod(size), len(places) - 16
    met, out = np.empty(c * count + shape.columns, x.dtype), np.empty((o, pixels), x.dtype)
    several = threads.number() > 1
    parts = min(2 * threads.number(), matrix.size * pixels // GRAIN) if several else 1
    given = None if bias is None else np.ascontiguousarray(bias)
    told = {
        "x": address(x), "x_channel": x.strides[1], "channels": c, "places": address(places), "count": count, "met": address(met),
        "weights": address(matrix), "step": matrix.strides[0], "rows": o, "deep": matrix.shape[1], "out": address(out),
        "bias": 0 if given is None else address(given), "pixels": pixels, "parallel": build.running().parallel if several else 0,
    }  # fmt: skip
    for run, whole, each in zip(_functions(shape), (c, o), (1, 8), strict=True):
        told["per"] = per = -(-whole // max(1, parts) // each) * each
        run((ctypes.c_int64 * len(FIELDS))(*[told[name] for name in FIELDS]), -(-whole // per))
    return laid(np.ascontiguousarray(out.reshape(o, n, *size).swapaxes(0, 1)), x)


def correlate_input(
    products: Products, g: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, in_size: Sizes
) -> Any:
    """What an input gets from g."""
    (n, o), size, ksize = g.shape[:2], g.shape[2:], weight.shape[2:]
    gradients = np.ascontiguousarray(g.swapaxes(0, 1)).reshape(o, -1)
    met = products.matrices(np.ascontiguousarray(weight).reshape(o, -1).T, gradients)
    met = met.reshape(-1, *ksize, n, *size)
    out = np.zeros((len(met), n, *in_size), g.dtype)
    for tap, results, places in _met(in_size, size, ksize, stride, padding, dilation):
        out[(slice(None), slice(None), *places)] += met[(slice(None), *tap, slice(None), *results)]
    return laid(np.ascontiguousarray(out.swapaxes(0, 1)), g)

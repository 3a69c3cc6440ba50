"""Few pixels beside many weights, as at the end of a network for images: weights are read once, as they lie.

Elsewhere they are packed first, which many pixels repay. Here what the taps meet is written down instead (it is little), and
the convolution is one product with the weights as a matrix; the gradient by the input is one with its transpose.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..products.calls import Products
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


def correlate(
    products: Products, x: Any, weight: Any, stride: Sizes, padding: Sizes, dilation: Sizes, size: Sizes, bias: Any
) -> Any:
    """The convolution of x."""
    n, c = x.shape[:2]
    ksize, images = weight.shape[2:], x.swapaxes(0, 1)
    met = np.zeros((c, *ksize, n, *size), x.dtype)
    for tap, results, places in _met(x.shape[2:], size, ksize, stride, padding, dilation):
        met[(slice(None), *tap, slice(None), *results)] = images[(slice(None), slice(None), *places)]
    o = len(weight)
    out = products.matrices(np.ascontiguousarray(weight).reshape(o, -1), met.reshape(-1, n * math.prod(size)))
    if bias is not None:
        out += bias[:, None]
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

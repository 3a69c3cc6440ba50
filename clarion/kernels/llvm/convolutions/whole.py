"""Kernels as long as the image, beside no zeros: there is one place for them, and those dimensions are as good as more channels.

    Conv2d(1, 64, (3, 100)) on sentences of words of 100 numbers; Conv2d(128, 1, 4) on maps of 4 x 4, and ConvTranspose2d back

The gradient by the input would otherwise be taken of an image that is nearly all zeros. Where no dimension is left it is a product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...layout import channels_last
from ..products.calls import Products
from ..turning import turned

Sizes = tuple[int, ...]


def whole(size: Sizes, ksize: Sizes, out: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """The dimensions whose kernel is as long as the image."""
    found = [
        d
        for d, k in enumerate(ksize)
        if k == size[d] and out[d] == 1 and not padding[d] and (dilation[d] == 1 or k == 1)
    ]
    return tuple(found) if any(ksize[d] > 1 for d in found) else ()


class Folded:
    """Images, weights and parameters without some dimensions, which are channels instead."""

    def __init__(self, dims: Sizes, ndim: int) -> None:
        self.dims, self.rest = dims, tuple(d for d in range(ndim) if d not in dims)
        self.order = (0, 1, *[d + 2 for d in (*dims, *self.rest)])  # theirs follow the channels
        self.back = np.argsort(self.order).tolist()

    def sizes(self, *many: Sizes) -> list[Sizes]:
        """Parameters of the dimensions that are left."""
        return [tuple(each[d] for d in self.rest) for each in many]

    def folded(self, x: Any) -> Any:
        """Images, or a weight."""
        x = x.transpose(self.order)
        return (x if x.shape[1] == 1 else _rows(x)).reshape(x.shape[0], -1, *x.shape[2 + len(self.dims) :])

    def unfolded(self, x: Any, size: Sizes) -> Any:
        """The other way round, in rows."""
        own = [size[d] for d in self.dims]
        return _rows(x.reshape(x.shape[0], -1, *own, *x.shape[2:]).transpose(self.back))

    def results(self, g: Any) -> Any:
        """Results, or their gradients: they have one element there."""
        return g.reshape(*g.shape[:2], *[g.shape[d + 2] for d in self.rest])


def _rows(x: Any) -> Any:
    if x.flags.c_contiguous:
        return x
    found = turned(x)
    return np.ascontiguousarray(x) if found is None else found


def laid(result: Any, like: Any) -> Any:
    """As results of images that lie like these do."""
    if not channels_last(like):
        return result
    last = (0, *range(2, result.ndim), 1)
    return np.ascontiguousarray(result.transpose(last)).transpose(0, result.ndim - 1, *range(1, result.ndim - 1))


def correlate(
    on: Callable[..., Any], products: Products, dims: Sizes, x: Any, weight: Any, stride: Sizes, padding: Sizes,
    dilation: Sizes, bias: Any,
) -> Any:  # fmt: skip
    """The convolution of x; `on` is that of the other dimensions."""
    how = Folded(dims, x.ndim - 2)
    images, matrix = how.folded(x), how.folded(weight)
    if how.rest:
        found = on(images, matrix, *how.sizes(stride, padding, dilation), 1, bias)
    elif bias is None:
        found = products.matrices(images, matrix.T)
    else:
        found = products.with_bias(images, matrix.T, np.ascontiguousarray(bias))
    return found if found is NotImplemented else laid(how.unfolded(found, (1,) * (x.ndim - 2)), x)


def correlate_input(
    on: Callable[..., Any], products: Products, dims: Sizes, g: Any, weight: Any, stride: Sizes, padding: Sizes,
    dilation: Sizes, in_size: Sizes,
) -> Any:  # fmt: skip
    """What an input gets from g."""
    how = Folded(dims, g.ndim - 2)
    *rest, size = how.sizes(stride, padding, dilation, in_size)
    gradients, matrix = how.results(g), how.folded(weight)
    found = on(gradients, matrix, *rest, 1, size) if size else products.matrices(gradients, matrix)
    return found if found is NotImplemented else laid(how.unfolded(found, in_size), g)


def correlate_weight(
    on: Callable[..., Any], products: Products, dims: Sizes, g: Any, x: Any, stride: Sizes, padding: Sizes,
    dilation: Sizes, ksize: Sizes,
) -> Any:  # fmt: skip
    """The gradient of the weight."""
    how = Folded(dims, g.ndim - 2)
    *rest, size = how.sizes(stride, padding, dilation, ksize)
    gradients, images = how.results(g), how.folded(x)
    found = on(gradients, images, *rest, 1, size) if size else products.matrices(gradients.T, images)
    return found if found is NotImplemented else how.unfolded(found, ksize)

"""Convolutions of each channel by itself, as products of matrices: a row of an image times a band.

A row of the result is the sum over the rows of the kernel of a row of the image times a matrix that has the numbers of that row of
the kernel along its diagonals. Most of the matrix is zero; but BLAS multiplies a hundred numbers in the time in which NumPy, place after place,
goes through memory for one. The rows of all images are one product; those of wide images are cut into tiles, whose band is the same.
The gradient of the kernel is what the products of all rows of the image and of the result have along those diagonals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..crew import share
from ..threads import one_in_blas
from .pieces import Geometry, Sizes

WORTH = 1 << 18  # multiplications from which this is faster than one place after the other
TILE = 28  # columns of a result up to which a row is one tile
ROOM = 1 << 19  # bytes of the channels that are computed together
SHARED = 1 << 23  # multiplications, with all zeros, from which threads are worth waking


class Bands(NamedTuple):
    """How images are laid out: (channel, image, row, column) with zeros, and rows of the result at a stride."""

    tiles: int
    width: int  # columns of the result in a tile
    seen: int  # columns of the image that they meet
    period: int  # rows from an image's first row of the result to the next one's
    shape: Sizes  # of the padded image
    rows: int  # of the results of all images

    @classmethod
    def of(cls, geometry: Geometry, images: int) -> Bands:
        (high, broad), (down, right), (deep, far) = geometry.ksize, geometry.stride, geometry.dilation
        tiles = -(-geometry.out[1] // TILE)
        width = -(-geometry.out[1] // tiles)
        seen = (width - 1) * right + (broad - 1) * far + 1
        period = -(-((geometry.out[0] - 1) * down + (high - 1) * deep + 1) // down)
        shape = period * down, (tiles - 1) * width * right + seen
        return cls(tiles, width, seen, period, shape, (images * shape[0] - 1 - (high - 1) * deep) // down + 1)

    def padded(self, x: Any, before: Sizes) -> Any:
        """(N, C, H, W) as (C, N, *shape), so many rows and columns inside of zeros, or beyond them."""
        out = np.zeros((x.shape[1], x.shape[0], *self.shape), x.dtype)
        to, source = zip(*map(_overlap, x.shape[2:], self.shape, before), strict=True)
        out[:, :, *to] = x[:, :, *source].swapaxes(0, 1)
        return out

    def met(self, padded: Any, geometry: Geometry, k: int) -> Any:
        """What row `k` of the kernel meets: (channel, tile, row, column)."""
        channel, _, row, one = padded.strides
        (down, right), deep = geometry.stride, geometry.dilation[0]
        strides = channel, self.width * right * one, down * row, one
        return np.ndarray(
            (len(padded), self.tiles, self.rows, self.seen), padded.dtype, padded, k * deep * row, strides
        )

    def results(self, channels: int, images: int, dtype: Any) -> tuple[Any, Any]:
        """Zeros for results, (channel, image, row, column), and the same as (channel, tile, row, column)."""
        whole = np.zeros((channels, images, self.period, self.tiles * self.width), dtype)
        channel, _, row, one = whole.strides
        shape = channels, self.tiles, self.rows, self.width
        return whole, np.ndarray(shape, dtype, whole, 0, (channel, self.width * one, row, one))

    def diagonal(self, bands: Any, geometry: Geometry, k: int) -> Any:
        """Where column `k` of the kernel lies in matrices (…, seen, width): (…, width)."""
        *outer, row, one = bands.strides
        place = k * geometry.dilation[1] * row
        return np.ndarray(
            (*bands.shape[:-2], self.width), bands.dtype, bands, place, (*outer, geometry.stride[1] * row + one)
        )


def _overlap(n: int, room: int, before: int) -> tuple[slice, slice]:
    """Where `n` places lie in so much room, `before` places from its beginning, and which of them do."""
    begin, end = max(before, 0), max(before, 0, min(before + n, room))
    return slice(begin, end), slice(begin - before, end - before)


def _by_channels(some: Callable[[slice], None], geometry: Geometry, bands: Bands, itemsize: int) -> None:
    channels = geometry.channels
    step = max(1, ROOM // (bands.rows * geometry.stride[0] * bands.shape[1] * itemsize))
    parts = -(-channels // step)
    multiplications = channels * bands.rows * bands.tiles * bands.width * bands.seen * geometry.ksize[0]

    def task(begin: int, end: int) -> None:
        for part in range(begin, end):
            some(slice(part * step, min((part + 1) * step, channels)))

    with one_in_blas():
        if multiplications > SHARED:
            share(task, parts, 1)
        else:
            task(0, parts)


def correlated(x: Any, kernels: Any, geometry: Geometry, bias: Any, out: Any) -> None:
    """Write to `out`, (N, C, H, W), what kernels (C, *K) give on x."""
    bands = Bands.of(geometry, len(x))
    matrices = np.zeros((*kernels.shape[:2], bands.seen, bands.width), x.dtype)
    for k in range(geometry.ksize[1]):
        bands.diagonal(matrices, geometry, k)[...] = kernels[:, :, k, None]

    def some(channels: slice) -> None:
        padded = bands.padded(x[:, channels], geometry.before)
        whole, total = bands.results(len(padded), len(x), x.dtype)
        more = np.empty(total.shape, x.dtype)
        for k in range(geometry.ksize[0]):
            np.matmul(bands.met(padded, geometry, k), matrices[channels, k, None], more if k else total)
            if k:
                np.add(total, more, total)
        made = whole[:, :, : geometry.out[0], : geometry.out[1]].swapaxes(0, 1)
        if bias is None:
            out[:, channels] = made
        else:
            np.add(made, bias[channels, None, None], out[:, channels])

    _by_channels(some, geometry, bands, x.itemsize)


def weight(g: Any, x: Any, geometry: Geometry) -> Any:
    """The gradient of the kernels: (C, *K)."""
    bands = Bands.of(geometry, len(x))
    out = np.empty((geometry.channels, *geometry.ksize), x.dtype)

    def some(channels: slice) -> None:
        padded = bands.padded(x[:, channels], geometry.before)
        whole, upstream = bands.results(len(padded), len(x), x.dtype)
        whole[:, :, : geometry.out[0], : geometry.out[1]] = g[:, channels].swapaxes(0, 1)
        for k in range(geometry.ksize[0]):
            products = np.matmul(bands.met(padded, geometry, k).swapaxes(2, 3), upstream).sum(1)
            for j in range(geometry.ksize[1]):
                out[channels, k, j] = bands.diagonal(products, geometry, j).sum(1)

    _by_channels(some, geometry, bands, x.itemsize)
    return out

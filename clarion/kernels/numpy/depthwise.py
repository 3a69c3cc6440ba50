"""Convolutions of each channel by itself, as products of matrices: rows of an image times a band.

A row of the result is what the rows of the kernel meet, all of them one after the other, times a matrix that has the numbers of the kernel along
its diagonals. Most of the matrix is zero; but BLAS multiplies a hundred numbers in the time in which NumPy, place after place,
goes through memory for one. Images are cut into tiles, which lie one after the other: the band of all is the same, and their rows are
one product. BLAS wants no rows that overlap, as those for two rows of the result do: these are computed in turns.

For the gradient of the kernel the images of a channel, each inside of its zeros, lie one after the other as one long line. What a place of the
kernel meets is that line, so many numbers further on: a scalar product with that of the result's gradient for each place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..crew import share
from ..threads import number, one_in_blas
from .pieces import Geometry, Sizes

WORTH = 1 << 18  # multiplications from which this is faster than gathering
SLOW = 4  # multiplications of matrices in the time of one of vectors
TILE = 16  # columns of a result up to which a row is one tile
ROOM = 1 << 20  # bytes of the channels that are computed together
SHARED = 1 << 23  # multiplications, with all zeros, from which threads are worth waking


class Bands(NamedTuple):
    """How images are laid out: (channel, image and tile, row, column) with zeros, and rows of the result at a stride."""

    tiles: int
    width: int  # columns of the result in a tile
    seen: int  # columns of the image that they meet
    period: int  # rows of the result from a tile's first one to the next tile's
    turns: int  # rows of the result whose pieces of the image begin where that of the first one ends
    rows: int  # of the results of all tiles, in turns

    @classmethod
    def of(cls, geometry: Geometry, images: int) -> Bands:
        (high, broad), (down, right), (deep, far) = geometry.ksize, geometry.stride, geometry.dilation
        tiles = -(-geometry.out[1] // TILE)
        width, met = -(-geometry.out[1] // tiles), (high - 1) * deep + 1
        period, turns = -(-((geometry.out[0] - 1) * down + met) // down), -(-met // down)
        seen = (width - 1) * right + (broad - 1) * far + 1
        return cls(tiles, width, seen, period, turns, -(-images * tiles * period // turns))

    def met(self, x: Any, geometry: Geometry) -> Any:
        """What the kernel meets, all its rows one after the other: (channel, turn, row, number)."""
        (n, channels), down = x.shape[:2], geometry.stride[0]
        piece = (geometry.ksize[0] - 1) * geometry.dilation[0] + 1
        lines = ((self.rows + 1) * self.turns) * down + piece
        padded = np.zeros((channels, lines, self.seen), x.dtype)
        whole = padded[:, : n * self.tiles * self.period * down]
        whole = whole.reshape(channels, n, self.tiles, self.period * down, self.seen)
        for tile in range(self.tiles):
            before = geometry.before[0], geometry.before[1] - tile * self.width * geometry.stride[1]
            _put(x, before, whole[:, :, tile])
        channel, row, one = padded.strides
        strides = channel, down * row, self.turns * down * row, one
        return np.ndarray((channels, self.turns, self.rows, piece * self.seen), x.dtype, padded, 0, strides)

    def matrices(self, kernels: Any, geometry: Geometry) -> Any:
        """Kernels (C, *K) along the diagonals of matrices: (C, number, column)."""
        (channels, high, broad), (deep, far) = kernels.shape, geometry.dilation
        bands = np.zeros((channels, (high - 1) * deep + 1, self.seen, self.width), kernels.dtype)
        channel, line, row, one = bands.strides
        shape, strides = (channels, high, self.width), (channel, deep * line, geometry.stride[1] * row + one)
        for k in range(broad):
            np.ndarray(shape, bands.dtype, bands, k * far * row, strides)[...] = kernels[:, :, k, None]
        return bands.reshape(channels, 1, -1, self.width)

    def results(self, made: Any, geometry: Geometry, images: int) -> list[Any]:
        """Products (channel, row, turn, column) as (image, channel, row, column), for each tile."""
        whole = made.reshape(len(made), -1, self.width)[:, : images * self.tiles * self.period]
        whole = whole.reshape(len(made), images, self.tiles, self.period, self.width)
        return [whole[:, :, tile, : geometry.out[0]].swapaxes(0, 1) for tile in range(self.tiles)]

    def shared(self, some: Callable[[slice], None], geometry: Geometry, itemsize: int) -> None:
        """Do `some` channels at a time."""
        channels, rows = geometry.channels, self.rows * self.turns
        multiplications = channels * rows * self.width * self.seen * geometry.ksize[0]
        _by_channels(some, channels, rows * geometry.stride[0] * self.seen * itemsize, multiplications)


def _overlap(n: int, room: int, before: int) -> tuple[slice, slice]:
    """Where `n` places lie in so much room, `before` places from its beginning, and which of them do."""
    begin, end = max(before, 0), max(before, 0, min(before + n, room))
    return slice(begin, end), slice(begin - before, end - before)


def _put(x: Any, before: Sizes, to: Any) -> None:
    """Write (N, C, H, W) to (C, N, *shape), so many rows and columns from its beginning, or before that."""
    here, there = zip(*map(_overlap, x.shape[2:], to.shape[2:], before), strict=True)
    to[:, :, *here] = x[:, :, *there].swapaxes(0, 1)


def _by_channels(some: Callable[[slice], None], channels: int, room: int, multiplications: int) -> None:
    """Do `some` channels at a time, of which each takes so much room."""
    threads = number() if multiplications > SHARED else 1
    parts = -(-channels // (max(1, ROOM // room) * threads)) * threads
    step = -(-channels // parts)
    parts = -(-channels // step)

    def task(begin: int, end: int) -> None:
        for part in range(begin, end):
            some(slice(part * step, min((part + 1) * step, channels)))

    with one_in_blas():
        if threads > 1:
            share(task, parts, 1)
        else:
            task(0, parts)


def correlated(x: Any, kernels: Any, geometry: Geometry, bias: Any, out: Any) -> None:
    """Write to `out`, (N, C, H, W), what kernels (C, *K) give on x."""
    (high, broad), deep, (above, before) = geometry.ksize, geometry.dilation[0], geometry.before
    if deep == 1:
        _banded(x, kernels, geometry, bias, out, False)
        return
    for k in range(high):  # all at once would also be multiplied by the rows between
        row = geometry._replace(ksize=(1, broad), before=(above - k * deep, before))
        _banded(x, kernels[:, k : k + 1], row, None if k else bias, out, k > 0)


def _banded(x: Any, kernels: Any, geometry: Geometry, bias: Any, out: Any, onto: bool) -> None:
    """The same where the rows of kernels meet rows that lie beside each other; `onto`: added to what is there."""
    bands = Bands.of(geometry, len(x))
    matrices = bands.matrices(kernels, geometry)

    def some(channels: slice) -> None:
        met = bands.met(x[:, channels], geometry)
        made = np.empty((len(met), bands.rows, bands.turns, bands.width), x.dtype)
        np.matmul(met, matrices[channels], made.swapaxes(1, 2))
        for k, each in enumerate(bands.results(made, geometry, len(x))):
            to = out[:, channels, :, k * bands.width : (k + 1) * bands.width]
            each = each[..., : to.shape[3]]
            if onto or bias is not None:
                np.add(each, to if onto else bias[channels, None, None], to)
            else:
                to[...] = each

    bands.shared(some, geometry, x.itemsize)


def weight(g: Any, x: Any, geometry: Geometry) -> Any:
    """The gradient of the kernels: (C, *K)."""
    reach = [(k - 1) * d for k, d in zip(geometry.ksize, geometry.dilation, strict=True)]
    stride, sizes = geometry.stride, zip(geometry.out, geometry.stride, reach, strict=True)
    high, broad = shape = tuple([(n - 1) * s + 1 + more for n, s, more in sizes])  # an image inside of its zeros
    length = len(x) * high * broad - reach[0] * broad - reach[1]
    out = np.empty((geometry.channels, *geometry.ksize), x.dtype)

    def some(channels: slice) -> None:
        one, count = x.itemsize, channels.stop - channels.start
        padded = _padded(x[:, channels], shape, geometry.before)
        steps = geometry.dilation[0] * broad * one, geometry.dilation[1] * one, one
        met = np.ndarray((count, *geometry.ksize, length), x.dtype, padded, 0, (padded.strides[0], *steps))
        upstream = np.zeros((count, length), x.dtype)
        places = high * broad * one, length * one, stride[0] * broad * one, stride[1] * one
        np.ndarray((len(x), count, *geometry.out), x.dtype, upstream, 0, places)[...] = g[:, channels]
        np.vecdot(met, upstream[:, None, None], out[channels])

    multiplications = geometry.channels * length * out[0].size
    _by_channels(some, geometry.channels, length * x.itemsize, SLOW * multiplications)
    return out


def _padded(x: Any, shape: Sizes, before: Sizes) -> Any:
    """(N, C, H, W) as (C, N, *shape), so many rows and columns inside of zeros, or beyond them."""
    out = np.zeros((x.shape[1], x.shape[0], *shape), x.dtype)
    _put(x, before, out)
    return out

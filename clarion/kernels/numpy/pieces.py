"""What the kernels of a convolution meet, as a matrix: for `convolution.py`, which says what it is good for."""

from __future__ import annotations

import functools
import math
import threading
from typing import Any, NamedTuple

import numpy as np

from ..layout import address, strided

Sizes = tuple[int, ...]

ROOM = 1 << 21  # bytes of the matrix of one unit
NARROW = 32  # numbers in a piece from which each row of the kernel gets a product
BLOCK = 1000000  # multiplications of a product that BLAS computes as it lies


class Geometry(NamedTuple):
    """Kernels of `ksize` over images of `size`, which lie `before` rows and columns inside of zeros (or beyond them, where negative)."""

    channels: int
    size: Sizes
    ksize: Sizes
    stride: Sizes
    dilation: Sizes
    before: Sizes
    out: Sizes

    @property
    def narrow(self) -> bool:
        """Are all rows of the kernel put beside each other?"""
        return self.ksize[1] * self.channels < NARROW

    @property
    def width(self) -> int:
        """Numbers in a row of the matrix."""
        return self.channels * self.ksize[1] * (self.ksize[0] if self.narrow else 1)

    def multiplications(self, images: int, outputs: int) -> int:
        """How much there is to compute."""
        return images * outputs * self.channels * math.prod(self.ksize) * math.prod(self.out)


class Unit(NamedTuple):
    """Some images, and some rows of the result."""

    images: slice
    rows: slice


@functools.lru_cache(maxsize=512)
def units(n: int, geometry: Geometry, itemsize: int, parts: int) -> list[Unit]:
    """A batch in units: a multiple of `parts`, if there are as many images, or the rows of images that are too large for one."""
    height, across = geometry.out
    row = geometry.width * across * (1 if geometry.narrow else geometry.stride[0]) * itemsize
    if row * height > ROOM or n == 1 < parts:
        step = max(1, min(ROOM // row, -(-height // parts)))
        return [
            Unit(slice(i, i + 1), slice(k, min(k + step, height))) for i in range(n) for k in range(0, height, step)
        ]
    count = -(-n * row * height // (ROOM * parts)) * parts
    step = -(-n // count)
    return [Unit(slice(i, min(i + step, n)), slice(0, height)) for i in range(0, n, step)]


# What is met ----------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """An array inside of a memory."""

    shape: Sizes
    dtype: Any
    offset: int
    strides: Sizes | None

    def of(self, memory: Any) -> Any:
        """The array itself."""
        return np.ndarray(self.shape, self.dtype, memory, self.offset, self.strides)


def place_in(x: Any, memory: Any) -> Place:
    """Where x, which lies in it, lies."""
    return Place(x.shape, x.dtype, address(x) - address(memory), x.strides)


class Plan(NamedTuple):
    """How the matrix of a unit is made, (image, row, column, piece), and where everything lies in `size` bytes."""

    size: int
    rows: slice  # of the image
    pixels: Place  # (image, row, column, channel)
    copies: list[tuple[Place, Place]]
    zeros: list[Place]
    taps: list[Place]  # what each row of the kernel meets: (image, block, row, number)
    made: Place  # (image, row, column, O)
    blocks: tuple[Place, Place]  # the same as (image, block, row, O), and room for one more


@functools.lru_cache(maxsize=512)
def _plan(geometry: Geometry, images: int, start: int, stop: int, outputs: int, kind: str) -> Plan:
    (high, broad), (down, right), (deep, far) = geometry.ksize, geometry.stride, geometry.dilation
    (height, columns), across, channels, dtype = geometry.size, geometry.out[1], geometry.channels, np.dtype(kind)
    rows, one, width, narrow = stop - start, dtype.itemsize, geometry.width, geometry.narrow
    first = start * down - geometry.before[0]  # the row of the image that is met first
    begin, end = max(first, 0), min(first + (rows - 1) * down + (high - 1) * deep + 1, height)
    # A layer has the rows that one row of the kernel meets, or those that lie a stride apart, of which each meets some.
    lines = rows if narrow else rows + (high - 1) * deep // down
    offsets = [k * deep for k in range(high)] if narrow else list(range(min(down, (high - 1) * deep + 1)))
    layout = (lines, across, high, broad, channels) if narrow else (len(offsets), lines, across, broad, channels)
    # What lies beside the pixels of a row is read, too, and overwritten with zeros.
    pixel, row = channels * one, columns * channels * one
    reach = _aligned(max(abs(geometry.before[1]), (across - 1) * right + (broad - 1) * far + 1) * pixel)
    matrix = _aligned(2 * reach + images * max(0, end - begin) * row)
    made = _aligned(matrix + images * math.prod(layout) * one)
    more = _aligned(made + images * rows * across * outputs * one)
    size = more + images * rows * across * outputs * one
    memory = np.empty(size, np.uint8)
    numbers = np.ndarray((images, *layout), dtype, memory, matrix)
    layers = np.moveaxis(numbers, 3 if narrow else 1, 0)  # layer, image, line, column, place, channel
    copies, zeros = [], []
    for offset, layer in zip(offsets, layers, strict=True):
        top, bottom = max(0, -((first + offset) // down)), min(lines, -(-(end - first - offset) // down))
        bottom = max(top, bottom)
        zeros += [layer[:, :top], layer[:, bottom:]]
        source = reach + (first + offset + top * down - begin) * row - geometry.before[1] * pixel
        steps = ((end - begin) * row, down * row, right * pixel, far * pixel)
        if bottom > top:
            copies.append(_pieces(layer[:, top:bottom], memory, source, steps))
    for k in range(broad):
        left = min(across, max(0, -(-(geometry.before[1] - k * far) // right)))
        stop_at = min(across, max(left, -(-(columns + geometry.before[1] - k * far) // right)))
        zeros += [layers[..., :left, k, :], layers[..., stop_at:, k, :]]
    taps = [0] if narrow else [(k * deep % down * lines + k * deep // down) * across * width * one for k in range(high)]
    together = next((q for q in range(rows, 0, -1) if not rows % q and q * across * outputs * width <= BLOCK), rows)
    shape, step = (images, rows // together, together * across), together * across
    inside = (numbers.strides[0], step * width * one, width * one, one)
    return Plan(
        size,
        slice(begin, max(begin, end)),
        Place((images, max(0, end - begin), columns, channels), dtype, reach, None),
        copies,
        [place_in(each, memory) for each in zeros if each.size],
        [Place((*shape, width), dtype, matrix + tap, inside) for tap in taps],
        Place((images, rows, across, outputs), dtype, made, None),
        (Place((*shape, outputs), dtype, made, None), Place((*shape, outputs), dtype, more, None)),
    )


def _aligned(size: int) -> int:
    return -(-size // 64) * 64


def _pieces(to: Any, memory: Any, source: int, steps: Sizes) -> tuple[Place, Place]:
    """Numbers (image, line, column, place, channel) as pieces that NumPy copies whole, and where those come from."""
    *shape, places, channels = to.shape
    pixel = channels * to.itemsize
    if places == 1 or steps[3] == pixel:
        whole, sizes = np.dtype((np.void, places * pixel)), tuple(shape)
    else:
        whole, sizes = np.dtype((np.void, pixel)), (*shape, places)
    where, n = place_in(to, memory), len(sizes)
    return Place(sizes, whole, where.offset, where.strides[:n]), Place(sizes, whole, source, steps[:n])


class _Kept(threading.local):
    memory: Any = None


_kept, KEPT = _Kept(), 1 << 23  # bytes that a thread keeps


def room(size: int) -> Any:
    """Memory of this thread: the same at every call, unless that is much."""
    memory = _kept.memory
    if memory is None or len(memory) < size:
        memory = np.empty(size, np.uint8)
        if size <= KEPT:
            _kept.memory = memory
    return memory


def met(x: Any, geometry: Geometry, unit: Unit, outputs: int) -> tuple[Plan, Any]:
    """The matrix of a unit of x, (N, C, H, W)."""
    images = unit.images.stop - unit.images.start
    plan = _plan(geometry, images, unit.rows.start, unit.rows.stop, outputs, x.dtype.char)
    memory = room(plan.size)
    _turned(x[unit.images, :, plan.rows], plan.pixels.of(memory))
    for to, source in plan.copies:
        to.of(memory)[...] = source.of(memory)
    for place in plan.zeros:
        place.of(memory)[...] = 0
    return plan, memory


def _turned(x: Any, out: Any) -> None:
    """(N, C, H, W) to (N, H, W, C)."""
    if math.gcd(x.strides[1], 4096) * x.shape[1] > 32768 and x.strides[3] == x.itemsize:
        # The numbers of a pixel lie a power of two apart, and would meet in few places of the cache: a copy where they do not.
        apart = np.empty((*x.shape[:3], x.shape[3] + 1), x.dtype)[..., :-1]
        apart[...] = x
        x = apart
    out[...] = x.transpose(0, 2, 3, 1)


def has_planes(x: Any) -> bool:
    """Do the rows of a channel lie one after the other?"""
    return bool(x.size) and x.strides[3] == x.itemsize and x.strides[2] == x.shape[3] * x.itemsize


def as_planes(x: Any) -> Any:
    """(N, C, H, W) as (N, C, H * W), nothing copied."""
    n, channels, height, across = x.shape
    return strided(x, (n, channels, height * across), (*x.strides[:2], x.itemsize))

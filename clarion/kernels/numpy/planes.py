"""What the kernels of a convolution without a stride meet, where images lie plane after plane: for `convolution.py`.

If the result is as wide as the image, what a column of the kernel meets is the image itself, so many numbers further on, but for
the columns that came around from the next row: a copy of whole planes, and zeros at the edge. Beside each other for all columns of the kernel
they make a matrix whose product with the weights is the result as it lies; nothing is turned. The next row of the kernel meets the same
matrix, read from the next row of pixels on. Of few channels the planes of all rows of the kernel are put beside each other: one product.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..layout import strided
from .pieces import BLOCK, Geometry, Place, Sizes, Unit, as_planes, has_planes, place_in, room


def suits(x: Any, geometry: Geometry) -> bool:
    """Is the convolution of x one of these?"""
    across, reach = geometry.size[1], (geometry.ksize[1] - 1) * geometry.dilation[1]
    return (
        geometry.stride == (1, 1)
        and geometry.out[1] == across
        and abs(geometry.before[1]) < across
        and abs(reach - geometry.before[1]) < across
        and has_planes(x)
    )


class Plan(NamedTuple):
    """How the matrix of a unit is made, (image, piece, place), and where everything lies in `size` bytes."""

    size: int
    copies: list[tuple[Place, slice]]  # to (image, channel, place) from such places of the planes
    zeros: list[Place]
    taps: list[Place]  # what each row of the kernel meets: (image, block, piece, place)
    made: Place  # (image, block, O, place)
    more: Place  # room for one more of those


@functools.lru_cache(maxsize=512)
def _plan(geometry: Geometry, images: int, start: int, stop: int, outputs: int, kind: str) -> Plan:
    (high, broad), (deep, far), (above, before) = geometry.ksize, geometry.dilation, geometry.before
    (height, across), channels, dtype, width = geometry.size, geometry.channels, np.dtype(kind), geometry.width
    rows, one, narrow = stop - start, dtype.itemsize, geometry.narrow
    lines, layers = (rows, high) if narrow else (rows + (high - 1) * deep, 1)
    places = rows * across
    made = images * width * lines * across * one
    more = made + images * outputs * places * one
    memory = np.empty(more + images * outputs * places * one, np.uint8)
    matrix = np.ndarray((images, layers, broad, channels, lines * across), dtype, memory)
    edges = matrix.reshape(images, layers, broad, channels, lines, across)
    copies, zeros = [], []
    for layer in range(layers):
        first = start - above + layer * deep  # the row of the image that is met first
        top = min(lines, max(0, -first))
        bottom = max(top, min(lines, height - first))
        zeros += [edges[:, layer, :, :, :top], edges[:, layer, :, :, bottom:]]
        for k in range(broad):
            further = k * far - before
            begin, end = top * across + max(0, -further), bottom * across - max(0, further)
            if begin < end:
                source = slice(first * across + begin + further, first * across + end + further)
                copies.append((place_in(matrix[:, layer, k, :, begin:end], memory), source))
    for k in range(broad):
        further = k * far - before
        zeros += [edges[:, :, k, ..., : max(0, -further)], edges[:, :, k, ..., across - max(0, further) :]]
    length = length_of_block(places, outputs * width)
    shape, plane = (images, places // length), lines * across * one
    inside = (width * plane, length * one, plane, one)
    ordered = (outputs * places * one, length * one, places * one, one)
    taps = [0] if narrow else [k * deep * across * one for k in range(high)]
    return Plan(
        len(memory),
        copies,
        [place_in(each, memory) for each in zeros if each.size],
        [Place((*shape, width, length), dtype, tap, inside) for tap in taps],
        Place((*shape, outputs, length), dtype, made, ordered),
        Place((*shape, outputs, length), dtype, more, ordered),
    )


def length_of_block(places: int, multiplications: int) -> int:
    """How many places a block has: as many as BLAS computes as they lie, and divide them all; at least 32."""
    found = (places // k for k in range(1, places // 32 + 1) if not places % k)
    return next((each for each in found if each * multiplications <= BLOCK), places)


def correlated(x: Any, kernels: Any, geometry: Geometry, unit: Unit, bias: Any, out: Any) -> None:
    """Write to `out`, (N, O, H, W), a unit of what kernels (row, O, piece) give on x."""
    images, outputs = unit.images.stop - unit.images.start, out.shape[1]
    plan = _plan(geometry, images, unit.rows.start, unit.rows.stop, outputs, x.dtype.char)
    memory, planes = room(plan.size), as_planes(x[unit.images])
    for to, source in plan.copies:
        to.of(memory)[...] = planes[:, :, source]
    for place in plan.zeros:
        place.of(memory)[...] = 0
    part, more = out[unit.images, :, unit.rows], plan.more.of(memory)
    direct = has_planes(part)
    total = blocks(part, more.shape[3]) if direct else plan.made.of(memory)
    for k, (tap, kernel) in enumerate(zip(plan.taps, kernels, strict=True)):
        np.matmul(kernel, tap.of(memory), more if k else total)
        if k:
            np.add(total, more, total)
    if bias is not None:
        np.add(total, bias[:, None], total)
    if not direct:
        part[...] = np.ndarray(part.shape, x.dtype, memory, plan.made.offset)


def laid_out(weight: Any, geometry: Geometry) -> Any:
    """Kernels (O, C, *K) as (row, O, piece)."""
    rows = weight.transpose(2, 0, 3, 1)
    if geometry.narrow:
        rows = weight.transpose(0, 2, 3, 1)[None]
    return np.ascontiguousarray(rows).reshape(*rows.shape[:2], -1)


def blocks(x: Any, length: int) -> Any:
    """(N, C, H, W), plane after plane, as (N, block, C, place)."""
    n, channels, height, across = x.shape
    shape: Sizes = (n, height * across // length, channels, length)
    return strided(x, shape, (x.strides[0], length * x.itemsize, x.strides[1], x.itemsize))

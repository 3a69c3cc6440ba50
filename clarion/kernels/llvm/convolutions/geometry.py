"""Where the taps of a convolution lie in a slab: tables that depend on shapes and strides alone, and are kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Sizes = tuple[int, ...]
SLAB = 3 << 17  # bytes of a slab, if a row of results needs no more
KEPT = 256  # geometries that are remembered
TAIL = 128  # bytes of zeros after a slab


@dataclass(frozen=True, eq=False)
class Geometry:
    """What is computed from a slab: sizes of the results and of the slab, rows of results in a block, and the tables."""

    size: Sizes  # of the results: depth, height, width
    slab: Sizes
    height: int
    channels: int
    table: Any
    offsets: Any

    @property
    def blocks(self) -> int:
        """How many blocks make up the results of an image."""
        return -(-self.size[1] // self.height)

    @property
    def columns(self) -> int:
        """How many results a block has."""
        return self.size[0] * self.height * self.size[2]


def three(sizes: Any, missing: int) -> Sizes:
    """Sizes of three dimensions, depth, height and width, from those of fewer."""
    return (missing,) * (3 - len(sizes)) + tuple(sizes)


@dataclass(frozen=True)
class Line:
    """One dimension: for each tap the channel it looks at and how far along; for each channel how it is taken from an image."""

    taps: list[tuple[int, int]]  # (channel, shift)
    channels: list[tuple[int, int, int]]  # (first element, zeros before, elements)
    reach: int  # how much longer the slab is than the results

    def shared(self, out: int) -> int:
        """How many of the zeros after a row may be those before the next one."""
        zeros = [min(before, out + self.reach - before - count) for _, before, count in self.channels]
        return max(0, min(*zeros, TAIL // 16))


def forward_line(size: int, out: int, k: int, stride: int, padding: int, dilation: int) -> Line:
    """Results at o meet o * stride + tap * dilation - padding: with a stride, one of several images apart."""
    phases = sorted({tap * dilation % stride for tap in range(k)})
    taps = [(phases.index(tap * dilation % stride), tap * dilation // stride) for tap in range(k)]
    reach = max(shift for _, shift in taps)
    channels = []
    for phase in phases:
        zeros = max(0, -(-(padding - phase) // stride))
        first = zeros * stride + phase - padding
        zeros = min(zeros, out + reach)
        channels.append((first, zeros, max(0, min(-(-(size - first) // stride), out + reach - zeros))))
    return Line(taps, channels, reach)


def backward_line(size: int, count: int, first: int, taps: list[int]) -> Line:
    """`count` results, of which number j meets element j + first - tap of a gradient with `size` elements."""
    zeros = max(0, max(tap - first for tap in taps))
    shifts = [(0, zeros + first - tap) for tap in taps]
    reach = max(shift for _, shift in shifts)
    zeros = min(zeros, count + reach)
    return Line(shifts, [(0, zeros, min(size, count + reach - zeros))], reach)


def _evenly(rows: int, most: int) -> int:
    """Rows of a block: at most so many, and all blocks alike if blocks of more than half of that can be."""
    return next((height for height in range(most, most // 2, -1) if rows % height == 0), most)


def _made(lines: list[Line], out: Sizes, channels: int, steps: Sizes, itemsize: int, parts: int) -> Geometry:
    """`steps`: the strides of an image in bytes, channel first. `parts`: how many blocks there should be at least."""
    reach = [line.reach for line in lines]
    per = [len(line.channels) for line in lines]
    row = channels * int(np.prod(per)) * (out[0] + reach[0]) * (out[2] + reach[2]) * itemsize
    height = _evenly(out[1], max(1, min(out[1], SLAB // max(row, 1) - reach[1], -(-out[1] // parts))))
    slab = (out[0] + reach[0], height + reach[1], out[2] + reach[2] - lines[2].shared(out[2]))
    table = []
    for channel in range(channels):
        for parts_ in itertools.product(*[line.channels for line in lines]):
            first, zeros, count = zip(*parts_, strict=True)
            place = channel * steps[0] + sum(a * b for a, b in zip(first, steps[1:], strict=True))
            table.append((place, *zeros, *count))
    taps = []
    for which in itertools.product(*[line.taps for line in lines]):
        number = (which[0][0] * per[1] + which[1][0]) * per[2] + which[2][0]
        shift = ((number * slab[0] + which[0][1]) * slab[1] + which[1][1]) * slab[2] + which[2][1]
        taps.append(shift)
    whole = int(np.prod(per)) * slab[0] * slab[1] * slab[2]
    offsets = (np.arange(channels)[:, None] * whole + np.array(taps)) * itemsize
    return Geometry(
        out, slab, height, channels * int(np.prod(per)),
        np.array(table, np.int64), np.ascontiguousarray(offsets.reshape(-1), np.int64),
    )  # fmt: skip


@lru_cache(maxsize=KEPT)
def forward(
    channels: int, size: Sizes, out: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, steps: Sizes,
    itemsize: int, parts: int,
) -> Geometry:  # fmt: skip
    """Of images of `channels` channels."""
    lines = [forward_line(*each) for each in zip(size, out, ksize, stride, padding, dilation, strict=True)]
    return _made(lines, out, channels, steps, itemsize, parts)


@lru_cache(maxsize=KEPT)
def backward(
    channels: int, size: Sizes, in_size: Sizes, ksize: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    steps: Sizes, itemsize: int, parts: int,
) -> list[tuple[Sizes, list[int], Geometry | None]]:  # fmt: skip
    """Of gradients: for each set of places of the input that meet the same taps, its first place, the taps, the geometry."""
    lines: list[list[tuple[int, list[int], int, Line | None]]] = []
    for n, in_n, k, s, p, d in zip(size, in_size, ksize, stride, padding, dilation, strict=True):
        ways = []
        for phase in range(s):
            begin = max(0, -(-(p - phase) // s))
            first = begin * s + phase - p
            count = -(-(in_n - first) // s)
            taps = [tap for tap in range(k) if tap * d % s == phase]
            if count > 0:
                line = backward_line(n, count, begin, [tap * d // s for tap in taps]) if taps else None
                ways.append((first, taps, count, line))
        lines.append(ways)
    found = []
    for ways_ in itertools.product(*lines):
        first = tuple(way[0] for way in ways_)
        places = itertools.product(*[way[1] for way in ways_])
        taps_ = [(a * ksize[1] + b) * ksize[2] + c for a, b, c in places]
        made = [way[3] for way in ways_]
        whole = None
        if all(line is not None for line in made):
            whole = _made(
                [line for line in made if line], tuple(way[2] for way in ways_), channels, steps, itemsize, parts
            )
        found.append((first, taps_, whole))
    return found


def pieces(made: Geometry, together: int, taps: int, width: int, lanes: int, itemsize: int) -> tuple[Any, Any]:
    """How the rows of results of `together` parts become columns of panels of `taps` rows that are `width` wide: see gathered.py.

    For each piece where it lies in a slab and in the panels, in bytes, and its elements; and where those of each part begin.
    """
    found: list[tuple[int, int, int]] = []
    starts = [0]
    panel = taps * width
    for column in range(0, together * made.columns, made.columns):
        for d, h in itertools.product(range(made.size[0]), range(made.height)):
            w = 0
            while w < made.size[2]:
                number, inside = divmod(column + (d * made.height + h) * made.size[2] + w, width)
                count = min(lanes, made.size[2] - w, width - inside)
                place = (d * made.slab[1] + h) * made.slab[2] + w
                found.append((place * itemsize, (number * panel + inside) * itemsize, count))
                w += count
        starts.append(len(found) * 24)
    return np.array(found or [(0, 0, 0)], np.int64), np.array(starts, np.int64)

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


@dataclass(frozen=True)
class Line:
    """One dimension: for each tap the channel it looks at and how far along; for each channel how it is taken from an image."""

    taps: list[tuple[int, int]]  # (channel, shift)
    channels: list[tuple[int, int, int]]  # (first element, zeros before, elements)
    reach: int  # how much longer the slab is than the results

    def meets(self, tap: int, result: int) -> bool:
        """Does a result meet something of the image there, or only zeros?"""
        channel, shift = self.taps[tap]
        _, before, count = self.channels[channel]
        return before <= result + shift < before + count

    def shared(self, out: int) -> int:
        """How many of the zeros after a row may be those before the next one."""
        zeros = [min(before, out + self.reach - before - count) for _, before, count in self.channels]
        return max(0, min(*zeros, TAIL // 16))


@dataclass(frozen=True, eq=False)
class Geometry:
    """What is computed from a slab: sizes of the results and of the slab, rows of results in a block, and the tables."""

    size: Sizes  # of the results: depth, height, width
    slab: Sizes
    height: int
    channels: int
    table: Any
    offsets: Any
    lines: list[Line]

    def spans(self, rows: int) -> Any:
        """For each row of results: which taps of a channel meet something of an image, for it or one of the next, `rows` in all."""
        taps = [len(line.taps) for line in self.lines]
        found = []
        for first in range(self.size[1]):
            met = [k for k in range(taps[1]) if any(self.lines[1].meets(k, first + r) for r in range(rows))]
            some = (met[0], met[-1] + 1) if met and taps[0] == 1 else (0, taps[1] if met else 0)
            found.append([k * taps[2] * taps[0] for k in some])
        return np.array(found, np.int64)

    @property
    def blocks(self) -> int:
        """How many blocks make up the results of an image."""
        return -(-self.size[1] // self.height)


def three(sizes: Any, missing: int) -> Sizes:
    """Sizes of three dimensions, depth, height and width, from those of fewer."""
    return (missing,) * (3 - len(sizes)) + tuple(sizes)


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
        np.array(table, np.int64), np.ascontiguousarray(offsets.reshape(-1), np.int64), lines,
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

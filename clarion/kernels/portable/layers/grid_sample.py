"""Sampling images (or volumes) at the points of a grid.

A sample is a weighted sum of the elements around a point: `sum over taps of weight(point) * x[tap]`. Everything that
differentiates it is of the same form with derivatives of the weights in their place; `orders` says how often they are
differentiated by each coordinate. So three kernels (samples, their transposed form, and products with samples) are
closed under differentiation.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...registry import kernel

Orders = tuple[int, ...]
CUBIC = -0.75


class Taps(NamedTuple):
    """Along one dimension: which elements, whether they are inside, and their weights as functions of the order."""

    places: list[Any]
    inside: list[Any]
    weights: Any


def _to_pixels(xp: Any, at: Any, size: int, align: bool) -> tuple[Any, float]:
    """From -1 … 1 to pixels, and the slope of that."""
    half = (size - 1) / 2 if align else size / 2
    return ((at + 1) / 2 * (size - 1) if align else ((at + 1) * size - 1) / 2), half


def _within(xp: Any, at: Any, size: int, padding: str, align: bool, volume: bool) -> tuple[Any, Any]:
    """Points moved into the image as the padding says, and the slope of that. NaN is PyTorch's: the first element of an image, the last of a volume."""
    slope = xp.ones_like(at)
    if padding == "zeros":
        return at, slope
    if padding == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return xp.zeros_like(at), xp.zeros_like(at)
        away = at - low
        slope = xp.where(away < 0, -slope, slope)
        away = xp.abs(away)
        extra = xp.fmod(away, span)
        odd = xp.floor(away / span) % 2 == 1
        at = xp.where(odd, span - extra, extra) + low
        slope = xp.where(odd, -slope, slope)
    slope = xp.where((at <= 0) | (at >= size - 1), xp.zeros_like(slope), slope)
    first, last = at.dtype.type(0), at.dtype.type(size - 1)
    return (xp.fmax(xp.fmin(at, last), first) if volume else xp.fmin(xp.fmax(at, first), last)), slope


def _checked(xp: Any, places: Any, size: int) -> tuple[Any, Any]:
    """Places as integers, and which of them are inside; those outside are 0."""
    inside = (places >= 0) & (places <= size - 1)
    return xp.where(inside, places, xp.zeros_like(places)).astype(xp.int64), inside


def _taps(xp: Any, at: Any, size: int, mode: str, padding: str, align: bool, volume: bool) -> Taps:
    at, scale = _to_pixels(xp, at, size, align)
    if mode == "bicubic":
        return _cubic_taps(xp, at, scale, size, padding, align)
    at, slope = _within(xp, at, size, padding, align, volume)
    if mode == "nearest":
        place, inside = _checked(xp, xp.rint(at), size)
        return Taps([place], [inside], lambda order: [xp.ones_like(at) if order == 0 else xp.zeros_like(at)])
    low = xp.floor(at)
    part = at - low
    slope = slope * scale

    def weights(order: int) -> list[Any]:
        if order == 0:
            return [1 - part, part]
        return [-slope, slope] if order == 1 else [xp.zeros_like(at)] * 2

    places, inside = zip(*(_checked(xp, low + k, size) for k in (0, 1)), strict=True)
    return Taps(list(places), list(inside), weights)


def _cubic_taps(xp: Any, at: Any, scale: float, size: int, padding: str, align: bool) -> Taps:
    low = xp.floor(at)
    part = at - low
    pairs = [_checked(xp, _within(xp, low + k, size, padding, align, False)[0], size) for k in (-1, 0, 1, 2)]
    near, far = (CUBIC + 2, -(CUBIC + 3), 0.0, 1.0), (CUBIC, -5 * CUBIC, 8 * CUBIC, -4 * CUBIC)

    def weights(order: int) -> list[Any]:
        sides = ((far, part + 1, 1), (near, part, 1), (near, 1 - part, -1), (far, 2 - part, -1))
        return [_polynomial(xp, of, distance, order) * (sign * scale) ** order for of, distance, sign in sides]

    return Taps([place for place, _ in pairs], [inside for _, inside in pairs], weights)


def _polynomial(xp: Any, coefficients: Any, x: Any, order: int) -> Any:
    """The polynomial, highest power first, differentiated `order` times, at x."""
    for _ in range(order):
        degree = len(coefficients) - 1
        coefficients = [c * (degree - i) for i, c in enumerate(coefficients[:-1])]
    found = xp.zeros_like(x)
    for c in coefficients:
        found = found * x + c
    return found


class Around:
    """The elements around all points of a grid: rows of a table (batch and place, channel), the last one zeros."""

    def __init__(self, xp: Any, grid: Any, sizes: Orders, mode: str, padding: str, align: bool) -> None:
        self.xp, self.sizes, self.shape = xp, sizes, grid.shape[:-1]
        flat = grid.reshape(-1, len(sizes))
        # The first coordinate belongs to the last dimension.
        self.along = [
            _taps(xp, xp.ascontiguousarray(flat[:, i]), size, mode, padding, align, len(sizes) == 3)
            for i, size in enumerate(reversed(sizes))
        ]
        self.places = math.prod(sizes)
        self.outside = grid.shape[0] * self.places
        per_image = math.prod(self.shape[1:])
        self.first = xp.repeat(xp.arange(grid.shape[0]) * self.places, per_image)

    def each(self, *all_orders: Orders) -> Iterator[tuple[Any, list[Any]]]:
        """Of each tap the rows, and the weights for each of the orders."""
        weights = [
            [taps.weights(order) for taps, order in zip(self.along, orders, strict=True)] for orders in all_orders
        ]
        for numbers in itertools.product(*(range(len(taps.places)) for taps in self.along)):
            row, inside, stride = self.first, None, 1
            for taps, number, size in zip(self.along, numbers, reversed(self.sizes), strict=True):
                row = row + taps.places[number] * stride
                inside = taps.inside[number] if inside is None else inside & taps.inside[number]
                stride *= size
            row = self.xp.where(inside, row, self.outside)
            found = [math.prod(w[number] for w, number in zip(each, numbers, strict=True)) for each in weights]
            if (
                len(self.sizes) == 3
            ):  # PyTorch leaves out what lies outside of a volume; of an image it counts as 0, and NaN times 0 is NaN
                found = [self.xp.where(inside, weight, weight.dtype.type(0)) for weight in found]
            yield row, found

    def table(self, x: Any) -> Any:
        """An input (batch, channel, …) as rows."""
        xp = self.xp
        rows = xp.moveaxis(x, 1, -1).reshape(x.shape[0] * math.prod(x.shape[2:]), x.shape[1])
        return xp.concatenate((rows, xp.zeros((1, x.shape[1]), x.dtype)))

    def points(self, g: Any) -> Any:
        """A gradient (batch, channel, …) as one row per point."""
        return self.xp.moveaxis(g, 1, -1).reshape(g.shape[0] * math.prod(g.shape[2:]), g.shape[1])

    def image(self, rows: Any, shape: Orders) -> Any:
        """Rows back to (batch, channel, …)."""
        image = self.xp.empty((shape[0], rows.shape[-1], *shape[1:]), rows.dtype)
        image[...] = self.xp.moveaxis(rows.reshape(*shape, rows.shape[-1]), -1, 1)
        return image


def grid_sampler(xp: Any, x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Orders) -> Any:
    """Samples of x, with weights differentiated as `orders` says."""
    around = Around(xp, grid, x.shape[2:], mode, padding, align)
    table = around.table(x)
    total = xp.zeros((around.first.size, x.shape[1]), x.dtype)
    for row, (weight,) in around.each(orders):
        total += table.take(row, axis=0) * weight[:, None]
    return around.image(total, around.shape)


kernel("grid_sampler_2d")(grid_sampler)
kernel("grid_sampler_3d")(grid_sampler)


@kernel("grid_sampler_put")
def grid_sampler_put(
    xp: Any, g: Any, grid: Any, sizes: Orders, mode: str, padding: str, align: bool, orders: Orders
) -> Any:
    """The transposed form: every element of g goes where its sample came from."""
    around = Around(xp, grid, sizes, mode, padding, align)
    points = around.points(g)
    rows, weights = [], []
    for row, (weight,) in around.each(orders):
        rows.append(row)
        weights.append(weight)
    table = _added(xp, points, xp.concatenate(rows), xp.concatenate(weights), around.outside + 1)
    return around.image(table[:-1], (g.shape[0], *sizes))


ROUNDS = 64


def _added(xp: Any, points: Any, rows: Any, weights: Any, height: int) -> Any:
    """A table of `height` rows, to which the points, over and over, are added with their weights.

    The first points that go to each row are added in one round, then the second ones, …; rows that get the most stand
    first, so that a round writes to the beginning of the sums. What is left after many rounds goes to few rows.
    """
    table = xp.zeros((height, points.shape[1]), points.dtype)
    if not rows.size:
        return table
    # Sixteen bits are sorted by radix, five times as fast.
    order = xp.argsort(rows.astype(xp.uint16) if height <= 65536 else rows, kind="stable")
    ordered = rows[order]
    starts = xp.flatnonzero(xp.concatenate((xp.ones(1, bool), ordered[1:] != ordered[:-1])))
    counts = xp.diff(xp.concatenate((starts, xp.asarray([rows.size]))))
    most_first = xp.argsort(-counts, kind="stable")
    starts, counts = starts[most_first], counts[most_first]
    sums = xp.zeros((starts.size, points.shape[1]), points.dtype)
    for number in range(min(int(counts[0]), ROUNDS)):
        there = int(xp.searchsorted(-counts, -number))
        picked = order[starts[:there] + number]
        sums[:there] += points.take(picked % len(points), axis=0) * weights[picked][:, None]
    for i in range(int(xp.searchsorted(-counts, -ROUNDS))):
        picked = order[starts[i] + ROUNDS : starts[i] + counts[i]]
        sums[i] += weights[picked] @ points.take(picked % len(points), axis=0)
    table[ordered[starts]] = sums
    return table


@kernel("grid_sampler_dots")
def grid_sampler_dots(xp: Any, g: Any, x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Orders) -> Any:
    """Products of g with the samples' derivatives by each coordinate, summed over the channels."""
    around = Around(xp, grid, x.shape[2:], mode, padding, align)
    table, points = around.table(x), around.points(g)
    total = xp.zeros((around.first.size, len(orders)), x.dtype)
    for row, weights in around.each(*higher(orders)):
        dots = xp.einsum("pc,pc->p", points, table.take(row, axis=0))
        for i, weight in enumerate(weights):
            total[:, i] += dots * weight
    return total.reshape(grid.shape)


def higher(orders: Orders) -> list[Orders]:
    """One more derivative, by each of the coordinates."""
    return [tuple(order + (i == j) for j, order in enumerate(orders)) for i in range(len(orders))]


# Grids of affine maps --------------------------------------------------------------------------------------


def _base_points(xp: Any, sizes: Orders, align: bool, dtype: Any) -> Any:
    """The points of an image, each with a 1 behind it, one per row."""
    ends = [1.0 if align else (size - 1) / size for size in sizes]
    lines = [
        xp.linspace(-end, end, size, dtype=dtype) if size > 1 else xp.zeros(1, dtype)
        for end, size in zip(ends, sizes, strict=True)
    ]
    points = xp.ones((*sizes, len(sizes) + 1), dtype)
    for dim, line in enumerate(lines):
        points[..., len(sizes) - 1 - dim] = line.reshape(-1, *(1,) * (len(sizes) - 1 - dim))
    return points.reshape(math.prod(sizes), len(sizes) + 1)


@kernel("affine_grid_generator")
def affine_grid_generator(xp: Any, theta: Any, size: Orders, align: bool) -> Any:
    base = _base_points(xp, size[2:], align, theta.dtype)
    return (base @ xp.swapaxes(theta, 1, 2)).reshape(size[0], *size[2:], len(size) - 2)


@kernel("affine_grid_generator_backward")
def affine_grid_generator_backward(xp: Any, g: Any, size: Orders, align: bool) -> Any:
    base = _base_points(xp, size[2:], align, g.dtype)
    return xp.swapaxes(g.reshape(size[0], -1, len(size) - 2), 1, 2) @ base

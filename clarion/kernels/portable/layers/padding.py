"""Padding: a constant, the mirrored inside, the edge, or the other end."""

from __future__ import annotations

import functools
from typing import Any

from ...layout import as_images
from ...registry import kernel

Widths = tuple[tuple[int, int], ...]


@kernel("constant_pad_nd")
@as_images
def constant_pad_nd(xp: Any, x: Any, widths: Widths, value: Any) -> Any:
    """`widths`: (before, after) per dimension; negative ones cut off."""
    shape, inside, source = _places(x.shape, widths)
    out = xp.full(shape, value, x.dtype) if value else xp.zeros(shape, x.dtype)
    out[inside] = x[source]
    return out


@functools.lru_cache(256)
def _places(have: tuple[int, ...], widths: Widths) -> tuple[Any, Any, Any]:
    """The shape of the result; where in it the values stand, and which they are: the same in every call with such shapes."""
    shape = tuple(n + a + b for n, (a, b) in zip(have, widths, strict=True))
    inside = tuple(slice(max(a, 0), m - max(b, 0)) for m, (a, b) in zip(shape, widths, strict=True))
    source = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(have, widths, strict=True))
    return shape, inside, source


def positions(xp: Any, n: int, before: int, after: int, mode: str) -> Any:
    """For each place along a padded dimension, the place inside that it copies."""
    places = xp.arange(-before, n + after)
    if mode == "replicate":
        return xp.clip(places, 0, n - 1)
    if mode == "circular":  # what is cut off (negative widths) is cut off first
        low, high = max(-before, 0), n - max(-after, 0)
        return low + xp.arange(-max(before, 0), high - low + max(after, 0)) % max(high - low, 1)
    period = 2 * (n - 1)
    places = xp.abs(places) % period if period else places * 0
    return xp.where(places >= n, period - places, places)


def pad_by_copy(xp: Any, x: Any, widths: Widths, mode: str) -> Any:
    for dim, (before, after) in enumerate(widths):
        if before or after:
            x = x.take(positions(xp, x.shape[dim], before, after, mode), axis=dim)
    return x if any(a or b for a, b in widths) else x.copy()


def pad_by_copy_backward(xp: Any, g: Any, shape: tuple[int, ...], widths: Widths, mode: str) -> Any:
    """Every gradient added where its value came from: one dimension after the other, the last first."""
    for dim in reversed(range(len(shape))):
        before, after = widths[dim]
        if before or after:
            places = positions(xp, shape[dim], before, after, mode)
            rows = xp.moveaxis(g, dim, 0)
            if before >= 0 and after >= 0:  # the inside lies where it was; only the border has to find its place
                whole = rows[before : before + shape[dim]].copy()
                border = xp.concatenate((xp.arange(before), xp.arange(before + shape[dim], rows.shape[0])))
                xp.add.at(whole, places[border], rows[border])
            else:
                whole = xp.zeros((shape[dim], *rows.shape[1:]), g.dtype)
                xp.add.at(whole, places, rows)
            g = xp.ascontiguousarray(xp.moveaxis(whole, 0, dim))
    return g


# One operation per kind and number of dimensions: PyTorch's nodes are named after them.
for _name in ("reflection_pad1d", "reflection_pad2d", "reflection_pad3d",
              "replication_pad1d", "replication_pad2d", "replication_pad3d", "circular_pad"):  # fmt: skip
    kernel(_name)(as_images(pad_by_copy) if _name != "circular_pad" else pad_by_copy)
kernel("pad_by_copy_backward")(pad_by_copy_backward)

"""Adafactor: the average square of a matrix kept as one row and one column, steps relative to the parameter."""

from __future__ import annotations

import math
from typing import Any

from ...registry import kernel


@kernel("adafactor_")
def adafactor(
    xp: Any, p: Any, g: Any, kept: tuple[Any, ...], room: Any, weight: float, lr: float, decay: float, limits: Any
) -> None:
    """Overwrite parameter and state. `room` has the gradient's shape, and the type to compute in.

    kept    rows and columns of a matrix, or the average squares of a vector
    weight  how much of them is new; `lr` is negative to go uphill
    limits  (eps1, eps2, d, the largest step)
    """
    eps1, eps2, d, most = limits
    length = max(p.size, 1) ** 0.5
    rate = max(eps2, norm(xp, p) / length) * min(abs(lr), most)
    if decay:
        xp.multiply(p, p.dtype.type(1 - abs(lr) * decay), p)
    _scaled(xp, g, kept, room, weight, eps1)
    rate /= max(1.0, norm(xp, room) / (length * d))
    xp.multiply(room, -math.copysign(rate, lr), room)
    p += room


def _scaled(xp: Any, g: Any, kept: tuple[Any, ...], room: Any, weight: float, eps: float) -> None:
    """The gradient over the root of its average square, into `room`."""
    kind = room.dtype
    if len(kept) == 2:
        full = g.astype(kind, copy=False)
        rows, columns = kept
        _toward(rows, xp.einsum("...ij,...ij->...i", full, full)[..., None] / g.shape[-1], weight)
        _toward(columns, xp.einsum("...ij,...ij->...j", full, full)[..., None, :] / g.shape[-2], weight)
        wide = rows.astype(kind, copy=False)
        mean = xp.maximum(wide.sum(-2, kind, None, True) / wide.shape[-2], eps)
        xp.multiply(wide / mean, columns.astype(kind, copy=False), room)
    else:
        xp.multiply(g, g, room, dtype=kind)
        _toward(kept[0], room, weight)
        room[...] = kept[0]
    xp.maximum(room, eps * eps, out=room)
    xp.sqrt(room, room)
    xp.divide(g, room, room)


def _toward(start: Any, end: Any, weight: float) -> None:
    """start += weight * (end - start), counted from the nearer end."""
    if weight < 0.5:
        start[...] = start + (end - start) * weight
    else:
        start[...] = end - (end - start) * (1 - weight)


def norm(xp: Any, array: Any) -> float:
    """The length of an array as a vector; half precision is summed in single."""
    flat = array.reshape(-1)
    if flat.itemsize == 2:
        flat = flat.astype(xp.float32)
    return math.sqrt(xp.dot(flat, flat))

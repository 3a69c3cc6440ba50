"""Attention's heads: what one projection gives for all of them, taken apart as views, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...registry import kernel


@kernel("heads")
def heads(xp: Any, x: Any, parts: int, count: int, batched: bool) -> Any:
    """Of (length, batch, parts · count · size), or `batched` (batch, length, …): every part as (batch, count, length, size)."""
    first, second, width = x.shape
    apart = x.reshape(first, second, parts, count, width // (parts * count))
    turned = apart.transpose((2, 0, 3, 1, 4) if batched else (2, 1, 3, 0, 4))
    return tuple([turned[i] for i in range(parts)])


@kernel("heads_backward")
def heads_backward(xp: Any, given: Sequence[Any], shape: tuple[int, ...], count: int, batched: bool) -> Any:
    """The parts side by side again; a part that is None is zero."""
    out = xp.empty(shape, next(part.dtype for part in given if part is not None))
    for target, part in zip(heads(xp, out, len(given), count, batched), given, strict=True):
        target[...] = 0 if part is None else part
    return out

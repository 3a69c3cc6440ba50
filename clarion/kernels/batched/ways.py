"""The way in and out of levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import registry
from ..registry import kernel, raw
from .array import Batched, is_of, spread, varying
from .levels import Level
from .table import RULES


@kernel("batch")
def _batch(xp: Any, x: Any, level: Level, dim: int) -> Any:
    """A dimension becomes the samples of a level."""
    return Batched(x if dim == 0 else x.transpose((dim, *[d for d in range(x.ndim) if d != dim])), level, True, dim)


@kernel("unbatch")
def _unbatch(xp: Any, x: Any, level: Level, dim: int) -> Any:
    """The samples become a dimension."""
    data = spread(x, level)
    if not varying(x, level):
        data = data.copy()
    if dim == 0:
        return data
    order = list(range(1, data.ndim))
    order.insert(dim, 0)
    return data.transpose(order)


@kernel("same_for_all")
def _same_for_all(xp: Any, x: Any, level: Level) -> Any:
    """An array that all samples share."""
    return Batched(x, level, False)


@kernel("common_sample")
def _common_sample(xp: Any, x: Any, level: Level) -> Any:
    """What all samples share, as one array."""
    return x.data if is_of(x, level) else x


@kernel("sum_of_samples")
def _sum_of_samples(xp: Any, x: Any, level: Level) -> Any:
    """The adjoint of sharing."""
    if varying(x, level):
        return raw.sum(x.data, (0,), False)
    return (x.data if is_of(x, level) else x) * level.size


kernel("unbatch_view")(_unbatch)


def _through(name: str) -> Callable[..., Any]:
    """What concerns an outer level is done below the inner ones."""
    own = registry.portable(name)

    def run(x: Any, level: Level, *dim: int) -> Any:
        if x.level.serial > level.serial:
            return x.like(registry.bind(name)(x.data, level, *[d + x.varies for d in dim]))
        return own(x, level, *dim)

    return run


for _name in ("batch", "unbatch", "unbatch_view", "same_for_all", "common_sample", "sum_of_samples"):
    RULES[_name] = _through(_name)

"""`torch.nn._reduction`: how losses are reduced, by name and by number."""

from __future__ import annotations

from typing import Any

from ..ops.losses.pointwise import legacy_reduction as legacy_get_string
from ..ops.losses.pointwise import reduction_number


def get_enum(reduction: str) -> int:
    """The number of a reduction: none 0, mean 1, sum 2."""
    return reduction_number(reduction)


def legacy_get_enum(size_average: Any, reduce: Any, emit_warning: bool = True) -> int:
    """The number that two old arguments mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))

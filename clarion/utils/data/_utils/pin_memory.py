"""Batches in page-locked memory, from where copies to a device go by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def pin_memory(data: Any, device: Any = None) -> Any:
    """A batch with its tensors in page-locked memory, through containers and whatever has a method `pin_memory`."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, Mapping):
        return type(data)({key: pin_memory(value) for key, value in data.items()})  # type: ignore[call-arg]
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[pin_memory(value) for value in data])
    return type(data)([pin_memory(value) for value in data]) if type(data) in (tuple, list) else data

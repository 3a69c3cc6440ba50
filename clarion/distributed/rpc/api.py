"""`torch.distributed.rpc.api`: a mark for functions that need the other processes, which refuse when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...absent import refusal, rest


def _require_initialized(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that needs other processes: it refuses when it is called."""
    return refusal("torch.distributed.rpc")


__getattr__ = rest(__name__)

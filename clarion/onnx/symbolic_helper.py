"""`torch.onnx.symbolic_helper`: marks for functions that say how an operation is exported; none ever is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..absent import rest


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """A mark: the function itself."""
    return lambda fn: fn


__getattr__ = rest(__name__)

"""`torch.fx`: programs are not traced into graphs; marks for the tracer mean nothing, the rest refuses when it is used."""

from __future__ import annotations

from typing import Any

from ..absent import rest
from .graph_module import GraphModule as GraphModule


def wrap(fn_or_name: Any) -> Any:
    """A mark for the tracer: the function itself."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            f"Unsupported type for global function! Must be either a callable or string name, got {type(fn_or_name).__name__}"
        )
    return fn_or_name


__getattr__ = rest(__name__)

"""`torch._VF`: functions as PyTorch's compiled part has them, which copies of its recurrent layers call (`_VF.lstm`)."""

from __future__ import annotations

from typing import Any

from .ops.faces.api import FUNCTIONS as _FUNCTIONS
from .ops.indexing.distinct import unique_dim as unique_dim


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _FUNCTIONS[name]


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)

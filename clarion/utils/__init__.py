"""`torch.utils`."""

import importlib as _importlib
from typing import Any as _Any

from . import data as data
from . import dlpack as dlpack


def __getattr__(name: str) -> _Any:
    if name in ("_pytree", "checkpoint", "hooks"):  # PyTorch has them as soon as `torch` is imported
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"clarion.utils has no attribute {name!r}")

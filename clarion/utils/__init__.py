"""`torch.utils`."""

import importlib as _importlib
from typing import Any as _Any

from ..absent import rest as _absent_rest
from ..core.swapping import swap_tensors as swap_tensors
from . import data as data
from . import dlpack as dlpack

_rest = _absent_rest(__name__)


def set_module(obj: _Any, mod: str) -> None:
    """Say of an object that it belongs to another module."""
    obj.__module__ = mod


def __getattr__(name: str) -> _Any:
    if name in (
        "_contextlib",
        "_python_dispatch",
        "_pytree",
        "checkpoint",
        "deterministic",
        "hooks",
        "model_zoo",
        "weak",
    ):  # PyTorch has them as soon as `torch` is imported
        return _importlib.import_module(f".{name}", __name__)
    return _rest(name)

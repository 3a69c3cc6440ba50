"""`torch.utils`."""

import importlib as _importlib
from typing import Any as _Any

from ..absent import rest as _absent_rest
from . import data as data
from . import dlpack as dlpack

_rest = _absent_rest(__name__)


def set_module(obj: _Any, mod: str) -> None:
    """Say of an object that it belongs to another module."""
    obj.__module__ = mod


def swap_tensors(t1: _Any, t2: _Any) -> None:
    """Exchange two tensors: what one name stood for the other does now."""
    for slot in ("_array", "_edge", "_nr", "_rg", "_vc", "_view"):
        one, other = getattr(t1, slot), getattr(t2, slot)
        setattr(t1, slot, other)
        setattr(t2, slot, one)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    own = dict(t1.__dict__)
    t1.__dict__.clear()
    t1.__dict__.update(t2.__dict__)
    t2.__dict__.clear()
    t2.__dict__.update(own)


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

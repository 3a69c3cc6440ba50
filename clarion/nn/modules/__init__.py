"""`torch.nn.modules`: the same classes under PyTorch's paths (`from clarion.nn.modules.loss import _Loss`)."""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from typing import Any as _Any

from ... import nn as _nn

# PyTorch's file -> ours, where there is one of the same content.
_FILES = {
    "activation": "activation",
    "adaptive": "adaptive",
    "batchnorm": "batchnorm",
    "container": "container",
    "conv": "conv",
    "distance": "loss",
    "dropout": "dropout",
    "flatten": "linear",
    "fold": "fold",
    "instancenorm": "instancenorm",
    "lazy": "lazy",
    "linear": "linear",
    "loss": "loss",
    "module": "module",
    "normalization": "normalization",
    "padding": "padding",
    "pooling": "pooling",
    "rnn": "rnn",
    "sparse": "embedding",
    "transformer": "transformer",
    "upsampling": "upsampling",
}


def _found(name: str) -> _Any:
    path = f"{_nn.__name__}.{_FILES[name]}"
    try:
        module = _importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None
    _sys.modules[f"{__name__}.{name}"] = module
    return module


for _name in _FILES:
    if (_module := _found(_name)) is not None:
        globals()[_name] = _module


def __getattr__(name: str) -> _Any:
    found = getattr(_nn, name, None)
    if isinstance(found, type):
        return found
    raise AttributeError(f"clarion.nn.modules has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*(k for k, v in vars(_nn).items() if isinstance(v, type)), *(k for k in _FILES if k in globals())])

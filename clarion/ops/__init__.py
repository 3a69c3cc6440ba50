"""Operations: one block each, its rules side by side. Folders are families; every file in them is loaded by itself."""

import importlib
import pkgutil
from typing import Any

from ..kernels import backends as _backends  # registers the kernels  # noqa: F401
from .faces import by_name, foreach
from .faces.api import attach

for _family in pkgutil.iter_modules(__path__):
    if _family.ispkg:
        for _module in pkgutil.iter_modules(importlib.import_module(f"{__name__}.{_family.name}").__path__):
            importlib.import_module(f"{__name__}.{_family.name}.{_module.name}")

foreach.register()
attach()
by_name.register()


def __getattr__(name: str) -> Any:
    """`torch.ops.aten` and other namespaces of PyTorch: see `_ops.py`, which stands on all of this."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(importlib.import_module("clarion._ops").ops, name)

"""Operations: one block each, its rules side by side. Folders are families; every file in them is loaded by itself."""

import importlib
import pkgutil

from ..kernels import backends as _backends  # registers the kernels  # noqa: F401
from .faces.api import attach

for _family in pkgutil.iter_modules(__path__):
    if _family.ispkg:
        for _module in pkgutil.iter_modules(importlib.import_module(f"{__name__}.{_family.name}").__path__):
            importlib.import_module(f"{__name__}.{_family.name}.{_module.name}")

attach()

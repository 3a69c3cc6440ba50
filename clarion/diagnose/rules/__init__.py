"""The diagnoses, one file each."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from ..rule import Diagnosis


def _find() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Diagnosis) and value.__dict__.get("name"):
                found[value.name] = value
    return dict(sorted(found.items()))


RULES = _find()

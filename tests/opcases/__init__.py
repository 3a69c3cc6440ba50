"""The table of operations: `ROWS` has at least one row per operation; see row.py for what a row says.

Folders are the families of `clarion/ops`; every file in them is loaded by itself.
"""

from __future__ import annotations

import importlib
import pkgutil

from .row import Row as Row

ROWS: list[Row] = [
    row
    for family in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)
    for module in sorted(m.name for m in pkgutil.iter_modules(importlib.import_module(f"{__name__}.{family}").__path__))
    for row in importlib.import_module(f"{__name__}.{family}.{module}").ROWS
]

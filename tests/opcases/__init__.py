"""The table of operations: `ROWS` has at least one row per operation; see row.py for what a row says."""

from __future__ import annotations

import importlib
import pkgutil

from .row import Row as Row

ROWS: list[Row] = [
    row
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "row")
    for row in importlib.import_module(f"{__name__}.{module}").ROWS
]

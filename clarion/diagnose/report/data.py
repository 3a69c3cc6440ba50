"""Findings as JSON."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any


def write(path: str, findings: list[Any]) -> None:
    """Write findings as a list of objects; whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump([finding.as_dict() for finding in findings], file, indent=2)
            file.write("\n")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise

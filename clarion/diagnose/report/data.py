"""Findings as JSON, and files that are written whole."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any


def write(path: str, findings: list[Any]) -> None:
    """Write findings as a list of objects."""
    write_text(path, json.dumps([finding.as_dict() for finding in findings], indent=2) + "\n")


def write_text(path: str, text: str) -> None:
    """Write a file whole, or not at all."""
    path = os.path.abspath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # as `open` would have made it
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise

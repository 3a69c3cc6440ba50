"""Loads the programs of examples/, with clarion as they are written, or with PyTorch in its place."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "examples"
HELPERS = {"digits"}  # what examples read, without a run() of their own
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in HELPERS)


def load(name: str, library: str = "clarion") -> ModuleType:
    """The example as a module. For PyTorch its import lines name torch: nothing else changes."""
    path = FOLDER / f"{name}.py"
    source = path.read_text()
    if library == "torch":
        source = re.sub(r"^import clarion as torch$", "import torch", source, flags=re.MULTILINE)
        source = re.sub(r"^from clarion\b", "from torch", source, flags=re.MULTILINE)
    module = ModuleType(f"examples_{library}_{name}")
    module.__file__ = str(path)
    sys.path.insert(0, str(FOLDER))
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)
    finally:
        sys.path.remove(str(FOLDER))
    return module

"""What a library asks of a machine: `python -m benchmarks.footprint`. Processor time to import, room on disk, memory of a training."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .stored import save

_IMPORT = """
import time
began = time.perf_counter()
import {name} as t
t.zeros(1)
print(time.perf_counter() - began)
"""
_MEMORY = """
import resource
import {name} as t
from benchmarks import training
from benchmarks.harness import WORKLOADS
step = WORKLOADS["transformer_training"](t)
for _ in range(20):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
# What `pip install` brings: the package and what it needs. (Of clarion: with `fast`.)
_PACKAGES = {
    "clarion": ("numpy", "ml_dtypes", "rich", "markdown-it-py", "mdurl", "pygments", "llvmlite"),
    "torch": ("torch", "filelock", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec",
              "setuptools"),
}  # fmt: skip


def _run(program: str, name: str) -> float:
    """The smallest of some runs, each in a process of its own."""
    source = program.format(name=name)
    command = [sys.executable, "-W", "ignore", "-c", source]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3))


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")


def _size(name: str) -> float:
    """Megabytes on disk."""
    total = 0
    if name == "clarion":
        spec = importlib.util.find_spec("clarion")
        assert spec is not None
        assert spec.origin is not None
        total += _bytes(Path(spec.origin).parent)
    for package in _PACKAGES[name]:
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        paths = [Path(str(file.locate())) for file in files if file.suffix != ".pyc"]
        total += sum(path.stat().st_size for path in paths if path.is_file())
    return total / 1e6


def measured() -> dict[str, Any]:
    """Figures of both libraries."""
    found = {}
    for name in ("clarion", "torch"):
        if importlib.util.find_spec(name) is None:
            continue
        found[name] = {
            "import seconds": round(_run(_IMPORT, name), 3),
            "installed MB": round(_size(name), 1),
            "peak MB of a transformer's training": round(_run(_MEMORY, name), 1),
        }
        print(name, found[name], flush=True)
    return found


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", os.getcwd())
    save("footprint", measured())

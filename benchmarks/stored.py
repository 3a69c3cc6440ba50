"""The figures that are kept beside the programs (`results.json`), part by part, and what all measurements share."""

from __future__ import annotations

import json
import os
import platform
import sys
import warnings
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("results.json")


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def libraries(threads: int) -> tuple[Any, Any]:
    """clarion, and PyTorch or None, each with so many threads."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)  # before any library starts its own
    import clarion

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch

        torch.set_num_threads(threads)
    except ImportError:
        print("PyTorch is not installed: only clarion is measured (pip install torch==2.13.0)", file=sys.stderr)
        return clarion, None
    return clarion, torch


def record(time: Any) -> dict[str, float]:
    """A time as it is kept: microseconds."""
    return {"wall": round(time.wall * 1e6, 2), "processor": round(time.processor * 1e6, 2)}


def load() -> dict[str, Any]:
    """All parts; none, if nothing is kept."""
    if not FILE.exists():
        return {}
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


def save(part: str, figures: Any, threads: int | None = None) -> None:
    """Keep a part, and leave the others; figures of single workloads replace those that were there."""
    kept = load()
    before = kept.get("machine", {}).get("threads", processors())
    kept["machine"] = {"processor": _processor(), "threads": threads or before, "python": platform.python_version()}
    if isinstance(kept.get(part), dict) and isinstance(figures, dict):
        figures = kept[part] | figures
    kept[part] = figures
    FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()

"""The one place that reads the environment."""

from __future__ import annotations

import os

# Every node carries the user's file and line. CLARION_PROVENANCE=0 turns that off.
PROVENANCE: bool = os.environ.get("CLARION_PROVENANCE", "1") != "0"

# Diagnoses are on in every program. CLARION_DIAGNOSE=off turns them off, =strict raises what would be a warning.
DIAGNOSE: str = os.environ.get("CLARION_DIAGNOSE", "on").lower()

# Names of diagnoses that stay silent, separated by commas.
DIAGNOSE_ALLOW: tuple[str, ...] = tuple(
    name.strip() for name in os.environ.get("CLARION_DIAGNOSE_ALLOW", "").split(",") if name.strip()
)

# How many threads kernels may use; set_num_threads changes it. OMP_NUM_THREADS is what NumPy's matrix products obey, too.
_threads = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
THREADS: int | None = int(_threads) if _threads.isdigit() and int(_threads) > 0 else None

# Kernels are compiled for the processor where llvmlite is installed. CLARION_COMPILE=0 turns that off; =all takes them
# for arrays of any size, which is for tests.
COMPILE: str = os.environ.get("CLARION_COMPILE", "1")


# Where compiled kernels are kept between processes. CLARION_CACHE names another folder.
CACHE: str = os.environ.get("CLARION_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "clarion"
)

# What compiled functions tell on standard error, separated by commas: recompiles, steps, compile (both).
LOGS: tuple[str, ...] = tuple(
    word.strip() for word in os.environ.get("CLARION_LOGS", "").lower().split(",") if word.strip()
)

"""NVIDIA's shared libraries, wherever the machine has them: beside CuPy in site-packages, or with the CUDA toolkit."""

from __future__ import annotations

import ctypes
import glob
import os
import site
import sys
from functools import cache


class LibraryError(RuntimeError):
    """A library of NVIDIA's said no: its name, the call, and the status it gave."""


@cache
def library(name: str) -> ctypes.CDLL:
    """`library("cublasLt")`; OSError with the places that were looked at if it is nowhere."""
    tried = []
    for candidate in _candidates(name):
        try:
            return ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            tried.append(f"{candidate}: {error}")
    raise OSError(f"lib{name}.so was not found. Looked at:\n  " + "\n  ".join(tried or ["no place at all"]))


def _candidates(name: str) -> list[str]:
    """Paths to try: packages of the environment first, since their versions fit CuPy's."""
    folders = [*site.getsitepackages(), *(p for p in sys.path if p.endswith("site-packages"))]
    found = [path for d in dict.fromkeys(folders) for path in glob.glob(f"{d}/nvidia/*/lib/lib{name}.so*")]
    root = os.environ.get("CUDA_PATH", "/usr/local/cuda")
    return [*found, *glob.glob(f"{root}/lib64/lib{name}.so.[0-9]*"), f"lib{name}.so"]


def check(name: str, status: int) -> None:
    """Raise if a call did not succeed."""
    if status:
        raise LibraryError(f"{name} failed with status {status}")

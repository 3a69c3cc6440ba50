"""How many threads a kernel may use: `set_num_threads`, else OMP_NUM_THREADS, else the processors this process may run on."""

from __future__ import annotations

import os
from collections.abc import Callable

from .. import config

_limit: int | None = config.THREADS
_followers: list[Callable[[int], None]] = []


def number() -> int:
    """How many threads kernels may use now."""
    if _limit is not None:
        return _limit
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit(n: int) -> None:
    """Use `n` threads from now on; everybody who keeps threads is told."""
    global _limit
    _limit = n
    _limit_blas(n)
    for tell in _followers:
        tell(n)


def follow(tell: Callable[[int], None]) -> None:
    """Call `tell` with the number of threads, now and whenever it changes."""
    _followers.append(tell)
    tell(number())


def _limit_blas(n: int) -> None:
    """NumPy's own matrix products: its wheels bring OpenBLAS in a file beside the package; another BLAS is left alone."""
    import ctypes
    import glob

    import numpy

    for path in glob.glob(os.path.join(os.path.dirname(numpy.__file__) + ".libs", "*openblas*")):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads"):
            if hasattr(library, name):
                getattr(library, name)(n)
                return

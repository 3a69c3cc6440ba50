"""How many threads a kernel may use: `set_num_threads`, else OMP_NUM_THREADS, else the processors this process may run on.

NOTE [BLAS]: once compiled loops have threads of their own, NumPy's BLAS keeps to one. Its threads look for work for some 25 ms
after a product, which keeps a processor from everybody else: a matrix product that came after a sum by BLAS took twice as long.
For factorizations of large matrices, which are its own, it gets all threads back.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from .. import config
from . import blas

_limit: int | None = config.THREADS
_followers: list[Callable[[int], None]] = []
_quiet_blas = False
LARGE = 256  # rows of a matrix whose factorization gains by threads


def number() -> int:
    """How many threads kernels may use now."""
    if _limit is not None:
        return _limit
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit(n: int) -> None:
    """Use `n` threads from now on; everybody who keeps threads is told."""
    global _limit
    _limit = n
    blas.set_threads(1 if _quiet_blas else n)
    for tell in _followers:
        tell(n)


def follow(tell: Callable[[int], None]) -> None:
    """Call `tell` with the number of threads, now and whenever it changes."""
    _followers.append(tell)
    tell(number())


def quiet_blas() -> None:
    """From now on BLAS keeps to one thread: NOTE [BLAS]."""
    global _quiet_blas
    if not _quiet_blas:
        _quiet_blas = True
        blas.set_threads(1)


def for_blas(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is BLAS's own work: for large matrices, its second argument, it gets all threads."""

    @functools.wraps(kernel)
    def call(xp: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not _quiet_blas or x.shape[-1] < LARGE or number() == 1:
            return kernel(xp, x, *args, **kwargs)
        blas.set_threads(number())
        try:
            return kernel(xp, x, *args, **kwargs)
        finally:
            blas.set_threads(1)

    return call

"""How many threads a kernel may use: `set_num_threads`, else OMP_NUM_THREADS, else the processors this process may run on.

NOTE [BLAS]: once compiled loops have threads of their own, NumPy's BLAS keeps to one. Its threads look for work for some 25 ms
after a product, which keeps a processor from everybody else: a matrix product that came after a sum by BLAS took twice as long.
For factorizations of large matrices, which are its own, it gets all threads back.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

from .. import config
from ..forks import fork_safe
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


class one_in_blas:
    """Inside, BLAS keeps to one thread: its callers are several, or its threads would look for work while others have some."""

    depth, lock = 0, fork_safe(threading.Lock())

    def __enter__(self) -> None:
        with one_in_blas.lock:
            one_in_blas.depth += 1
            if one_in_blas.depth == 1:
                blas.first_threads()
                blas.set_threads(1)

    def __exit__(self, *_: Any) -> None:
        with one_in_blas.lock:
            one_in_blas.depth -= 1
            if not one_in_blas.depth:
                blas.set_threads(1 if _quiet_blas else _limit or blas.first_threads())


def _nobody_inside() -> None:
    if one_in_blas.depth:  # the threads that were inside do not exist in a forked process
        one_in_blas.depth = 0
        blas.set_threads(1 if _quiet_blas else _limit or blas.first_threads())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_nobody_inside)


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

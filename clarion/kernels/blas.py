"""NumPy's own BLAS, past NumPy: its wheels bring OpenBLAS in a file beside the package. Another one is left alone."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .layout import address

WORTH = 1 << 14  # elements from which a call past NumPy is worth what it asks before


@functools.cache
def _library() -> tuple[Any, str] | None:
    """The library, and how the names of its functions end: with 64 where it counts in 64 bits."""
    for path in glob.glob(os.path.join(os.path.dirname(np.__file__) + ".libs", "*openblas*")):
        library = ctypes.CDLL(path)
        for ending in ("64_", ""):
            if hasattr(library, f"scipy_openblas_set_num_threads{ending}"):
                return library, ending
    return None


@functools.cache
def _function(name: str) -> Callable[..., Any] | None:
    found = _library()
    return None if found is None else getattr(found[0], f"scipy_{name}{found[1]}", None)


def set_threads(n: int) -> None:
    """So many threads from now on."""
    tell = _function("openblas_set_num_threads")
    if tell is not None:
        tell(n)


@functools.cache
def _axpy(kind: str) -> Callable[..., Any] | None:
    function: Any = _function(f"cblas_{'s' if kind == 'f' else 'd'}axpy") if kind in "fd" else None
    if function is not None:
        whole = ctypes.c_int64 if _library()[1] else ctypes.c_int32  # type: ignore[index]
        number = ctypes.c_float if kind == "f" else ctypes.c_double
        function.argtypes = [whole, number, ctypes.c_void_p, whole, ctypes.c_void_p, whole]
        function.restype = None
    return function  # type: ignore[no-any-return]


def add_multiple(x: Any, factor: float, y: Any) -> bool:
    """y += factor * x in one pass, each element rounded once. False, and nothing is done, where this is not for BLAS.

    It leaves out a factor of zero, and with it NaNs and infinities.
    """
    kind = y.dtype.char
    if y.size < WORTH or x.dtype.char != kind or x.shape != y.shape or not factor:
        return False
    if not (x.flags.c_contiguous and y.flags.c_contiguous):
        return False
    function = _axpy(kind)
    if function is None:
        return False
    function(y.size, factor, address(x), 1, address(y), 1)
    return True

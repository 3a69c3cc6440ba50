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


def lapacke(name: str) -> tuple[Any, Any] | None:
    """A function of LAPACK's C interface, and its whole numbers; None where there is none."""
    found, function = _library(), _function(f"LAPACKE_{name}")
    return None if found is None or function is None else (function, ctypes.c_int64 if found[1] else ctypes.c_int32)


def set_threads(n: int) -> None:
    """So many threads from now on."""
    tell = _function("openblas_set_num_threads")
    if tell is not None:
        tell(n)


def _threads() -> int:
    """How many threads it has."""
    ask = _function("openblas_get_num_threads")
    return 1 if ask is None else int(ask())


@functools.cache
def first_threads() -> int:
    """How many threads it had when this was asked first: what the machine, or the environment, gave it."""
    return _threads()


@functools.cache
def _of_vectors(name: str, kind: str, factors: int) -> Callable[..., Any] | None:
    """A function of two vectors, the first with a factor, the second with one or none."""
    function: Any = _function(f"cblas_{'s' if kind == 'f' else 'd'}{name}") if kind in "fd" else None
    if function is not None:
        whole = ctypes.c_int64 if _library()[1] else ctypes.c_int32  # type: ignore[index]
        number = ctypes.c_float if kind == "f" else ctypes.c_double
        second = (number,) * (factors - 1)
        function.argtypes = [whole, number, ctypes.c_void_p, whole, *second, ctypes.c_void_p, whole]
        function.restype = None
    return function  # type: ignore[no-any-return]


def _suit(x: Any, y: Any) -> bool:
    """Are two arrays vectors of one type, long enough to go past NumPy?"""
    if y.size < WORTH or x.dtype.char != y.dtype.char or x.shape != y.shape:
        return False
    return bool(x.flags.c_contiguous and y.flags.c_contiguous)


def add_multiple(x: Any, factor: float, y: Any) -> bool:
    """y += factor * x in one pass, each element rounded once. False, and nothing is done, where this is not for BLAS.

    It leaves out a factor of zero, and with it NaNs and infinities.
    """
    function = _of_vectors("axpy", y.dtype.char, 1) if factor and _suit(x, y) else None
    if function is None:
        return False
    whole = y.size if _rounds_ends_alike(y.dtype.char) else y.size - y.size % (_VECTORS * _threads())
    function(whole, factor, address(x), 1, address(y), 1)
    if whole < y.size:
        _add_to_end(function, x.reshape(-1)[whole:], factor, y.reshape(-1)[whole:])
    return True


_VECTORS = 64  # elements: a multiple of what any of its loops takes at once


def _add_to_end(function: Callable[..., Any], x: Any, factor: float, y: Any) -> None:
    """`y += factor * x` of the few last elements, in vectors that are filled up."""
    given, result = np.zeros((2, x.size + -x.size % _VECTORS), y.dtype)
    given[: x.size], result[: x.size] = x, y
    function(given.size, factor, address(given), 1, address(result), 1)
    y[...] = result[: x.size]


@functools.cache
def _rounds_ends_alike(kind: str) -> bool:
    """Are the last elements rounded as the others are? On some processors vectors are rounded once, and what is left over, by each thread,
    twice: then results hang on the number of threads."""
    x, y = np.linspace(-1, 1, 2 * 4096).astype(kind).reshape(2, -1)
    function: Any = _of_vectors("axpy", kind, 1)
    whole, ends = y.copy(), y.copy()
    function(whole.size, 0.9, address(x), 1, address(whole), 1)
    for start in range(0, ends.size, 15):  # (fewer than any vector loop takes)
        some, at = ends[start : start + 15], x[start : start + 15]
        function(some.size, 0.9, address(at), 1, address(some), 1)
    return bool((whole == ends).all())


def multiply_and_add(x: Any, factor: float, y: Any) -> bool:
    """x = x * factor + y in one pass, each element rounded as in two; or False."""
    if not factor or not _suit(y, x) or not _rounds_twice(x.dtype.char):
        return False
    _of_vectors("axpby", x.dtype.char, 2)(x.size, 1.0, address(y), 1, factor, address(x), 1)  # type: ignore[misc]
    return True


@functools.cache
def _rounds_twice(kind: str) -> bool:
    """Does BLAS round the multiple before it adds? Compilers may leave that out; so it is tried."""
    function = _of_vectors("axpby", kind, 2)
    if function is None:
        return False
    x, y = np.linspace(-1, 1, 2 * 4099).astype(kind).reshape(2, -1)
    factor, result = np.dtype(kind).type(0.9), x.copy()
    function(x.size, 1.0, address(y), 1, factor.item(), address(result), 1)
    return bool((result == x * factor + y).all())


# Triangles -----------------------------------------------------------------------------------------------

_BY_ROWS, _RIGHT = 101, 142
_TRANSPOSED, _UPPER, _UNIT = {False: 111, True: 112}, {True: 121, False: 122}, {False: 131, True: 132}
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}


@functools.cache
def _triangle(kind: str) -> tuple[Any, Any] | None:
    """The function for a type, and its number one."""
    function: Any = _function(f"cblas_{_LETTERS[kind]}trsm") if kind in _LETTERS else None
    if function is None:
        return None
    whole = ctypes.c_int64 if _library()[1] else ctypes.c_int32  # type: ignore[index]
    one: Any = np.ones((), kind)
    if kind in "fd":
        number, factor = (ctypes.c_float if kind == "f" else ctypes.c_double), 1.0
    else:
        number, factor = ctypes.c_void_p, address(one)
    words = [ctypes.c_int] * 5
    function.argtypes = [*words, whole, whole, number, ctypes.c_void_p, whole, ctypes.c_void_p, whole]
    function.restype = None
    return function, (factor, one)  # (`one` must live as long as its address is used)


def solve_triangular(a: Any, b: Any, upper: bool, unit: bool) -> Any:
    """x with a x = b for (batches of) triangles a, column by column in memory; None where this is not for BLAS."""
    found = _triangle(b.dtype.char) if a.dtype == b.dtype else None
    if found is None or not a.size or not b.size:
        return None
    function, (one, _) = found
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    n, k = b.shape[-2:]
    # Rows of the transposed: x^T a^T = b^T.
    x = np.array(np.broadcast_to(b.swapaxes(-1, -2), (*batch, k, n)), order="C")
    by_columns = a.swapaxes(-1, -2).flags.c_contiguous and n > 1
    given = a.swapaxes(-1, -2) if by_columns else np.ascontiguousarray(a)
    how = _TRANSPOSED[not by_columns], _UPPER[upper != by_columns], _UNIT[unit]
    size, at = n * k * x.itemsize, address(x)
    if given.ndim == 2:
        places = [address(given)] * max(1, x.size // (n * k))
    else:
        whole = np.broadcast_to(given, (*batch, n, n))
        places = [address(whole[index]) for index in np.ndindex(*batch)]
    for number, place in enumerate(places):
        function(_BY_ROWS, _RIGHT, how[1], how[0], how[2], k, n, one, place, n, at + number * size, n)
    return x.swapaxes(-1, -2)

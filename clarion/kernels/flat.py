"""Arrays seen as flat ones of real numbers, one after the other in one piece of memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .registry import library_of

# The real type behind a type.
REAL = {"f": np.dtype("f"), "d": np.dtype("d"), "F": np.dtype("f"), "D": np.dtype("d")}


def real_type(array: Any) -> Any:
    """The real type that an array is computed in: half precision is computed in single."""
    return REAL.get(array.dtype.char, REAL["f"])


def flat(array: Any, kind: Any) -> Any:
    """An array without gaps as a flat one of real numbers, in the order in which they lie in memory."""
    found = (array if array.flags.c_contiguous else in_order(array)).reshape(-1)
    return found if found.dtype == kind else found.view(kind)


def in_order(array: Any) -> Any:
    """The array with its dimensions in the order in which they lie in memory (that of channels-last images is another)."""
    return array.transpose(sorted(range(array.ndim), key=lambda d: -array.strides[d]))


def beside(array: Any, length: int, kind: Any) -> Any:
    """Uninitialised flat memory where the array is."""
    return library_of(array).xp.empty_like(array, kind, shape=(length,))


def laid_like(array: Any, kind: Any) -> Any:
    """Uninitialised memory of an array's shape and layout, where the array is."""
    return library_of(array).xp.empty_like(array, kind)


def windows(memory: Any, arrays: Iterable[Any]) -> Iterator[Any]:
    """Parts of flat memory one after the other, in the shapes of these arrays."""
    begin = 0
    for array in arrays:
        end = begin + array.size
        yield memory[begin:end].reshape(array.shape)
        begin = end


def alike(array: Any, others: Iterable[Any]) -> bool:
    """Are all of them without gaps, laid out in one way, and of one type that can be computed in?"""
    if array.dtype.char not in REAL:
        return False
    if array.flags.c_contiguous:
        return all(other.flags.c_contiguous and other.dtype == array.dtype for other in others)
    if not in_order(array).flags.c_contiguous:
        return False
    return all(other.strides == array.strides and other.dtype == array.dtype for other in others)


def span(array: Any) -> tuple[int, int]:
    """The addresses of its first byte and of the one after its last."""
    if isinstance(array, np.ndarray):
        return np.lib.array_utils.byte_bounds(array)
    reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)]
    first = array.data.ptr + sum(r for r in reach if r < 0)
    return first, array.data.ptr + sum(r for r in reach if r > 0) + array.itemsize


def overlap(arrays: list[Any]) -> bool:
    """Do any of them share memory? (Of the host's: elsewhere each array has memory of its own, or none.)"""
    if len(arrays) == 1 or not isinstance(arrays[0], np.ndarray):
        return False
    spans = sorted(span(array) for array in arrays if array.size)
    return any(end > begin for (_, end), (begin, _) in pairwise(spans))


def filled_like(array: Any, value: Any) -> Any:
    """A number in the shape, type and layout of an array."""
    xp = library_of(array).xp
    return xp.full_like(array, value) if value else xp.zeros_like(array)


def number(value: Any, kind: Any) -> Any:
    """A 0-dim array: NumPy's, or one of another library as it is."""
    return np.asarray(value, kind) if isinstance(value, (np.generic, np.ndarray, int, float, complex)) else value


_numbers: dict[tuple[float, Any], Any] = {}


def kept_number(value: float, dtype: Any) -> Any:
    """A Python number as a 0-dim array of a type: NumPy is twice as fast with one."""
    found = _numbers.get((value, dtype))
    if found is None:
        found = np.asarray(value, dtype)
        if len(_numbers) < 1000:
            _numbers[value, dtype] = found
    return found


def stacked(arrays: Sequence[Any]) -> Any:
    """Arrays of one shape and type as one array, along a new first dimension."""
    one = library_of(arrays[0]).xp.empty((len(arrays), *arrays[0].shape), arrays[0].dtype)
    for place, array in zip(one, arrays, strict=True):
        place[...] = array
    return one


def joined(arrays: list[Any]) -> Any:
    """All elements of all arrays one after the other, complex ones as two real numbers each."""
    xp = library_of(arrays[0]).xp
    flats = [array.reshape(-1) for array in arrays]
    if any(each.dtype.kind == "c" for each in flats):
        flats = [xp.ascontiguousarray(f).view(f.real.dtype) if f.dtype.kind == "c" else f for f in flats]
    return xp.concatenate(flats)

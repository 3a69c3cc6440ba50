"""Arrays out of Python data: what `torch.tensor([[1, 2], [3, 4]])` means.

A nested list is taken apart level by level with `chain`, `map` and `set`, so that the work per element
is done in C; types and lengths are judged on sets, which are small.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from .float8 import to_float8
from .quiet import quietly

PLAIN = frozenset((bool, int, float, complex))


class Unfit(Exception):
    """Data that make no array: the exception type to raise, and its text."""

    def __init__(self, kind: type, text: str) -> None:
        super().__init__(text)
        self.kind, self.text = kind, text


DEEPEST = 128  # levels of lists that PyTorch looks into


def is_sequence(value: Any) -> bool:
    """Does PyTorch look into it for elements?"""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, (str, bytes, dict, set, frozenset, np.generic)):
        return False
    return hasattr(value, "__getitem__") and hasattr(value, "__len__")


def unnest(data: Any, is_leaf: Any) -> tuple[list[Any], tuple[int, ...]]:
    """All elements of nested sequences in order, and the shape; `is_leaf(value)` stops the descent."""
    level = data if type(data) is list else list(data)
    shape = [len(level)]
    while level and not is_leaf(level[0]) and is_sequence(level[0]):
        try:
            lengths = list(map(len, level))
        except TypeError:
            if isinstance(level[0], np.ndarray):
                raise Unfit(TypeError, "len() of unsized object") from None
            raise Unfit(TypeError, "not a sequence") from None
        n = lengths[0]
        if len(set(lengths)) > 1:
            other = next(m for m in lengths if m != n)
            raise Unfit(
                ValueError,
                f"expected sequence of length {n} at dim {len(shape)} (got {other})",
            )
        shape.append(n)
        if len(shape) > DEEPEST:  # a list that is in itself
            raise Unfit(ValueError, f"too many dimensions '{type(level[0]).__name__}'")
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def category(types: set[type]) -> int:
    """bool 0, integer 1, float 2, complex 3: the highest among Python's number types."""
    if complex in types:
        return 3
    if float in types:
        return 2
    return 1 if int in types else 0


@quietly
def plain_array(flat: list[Any], shape: tuple[int, ...], dtype: Any, rank: int) -> Any:
    """Python numbers of category `rank` as an array of `dtype`; rounding and refusals as PyTorch's."""
    kind = dtype.kind
    if kind == "b" or (kind in "fc" and dtype.itemsize >= 4):
        if rank == 3 and kind == "f":
            raise Unfit(TypeError, "must be real number, not complex")
        return np.array(flat, dtype).reshape(shape)
    if kind in "iu":
        return _integers(flat, dtype, rank).reshape(shape)
    if kind == "W":
        return np.array(flat, np.complex64).astype(dtype).reshape(shape)
    if rank == 3:
        raise Unfit(TypeError, "must be real number, not complex")
    if dtype.itemsize == 1:
        return to_float8(np, np.array(flat, np.float64).astype(np.float32), dtype).reshape(shape)
    # Half types are reached through float32, with its own rounding.
    return np.array(flat, np.float64).astype(np.float32).astype(dtype).reshape(shape)


def _integers(flat: list[Any], dtype: Any, rank: int) -> Any:
    if rank == 3:
        raise Unfit(TypeError, "can't convert complex to int")
    if rank == 2:
        wide = np.array(flat, np.float64)
        if wide.size and not (np.isfinite(wide).all() and abs(wide).max() < 2.0**63):
            raise Unfit(
                RuntimeError,
                f"value cannot be converted to type {dtype.name} without overflow",
            )
        values = wide.astype(np.int64)
    else:
        try:
            values = np.array(flat, np.uint64 if dtype == np.uint64 else np.int64)
        except OverflowError:
            raise Unfit(ValueError, "Overflow when unpacking long long") from None
    if dtype.itemsize < 8 and values.size:
        limits = np.iinfo(dtype)
        low = -limits.max - 1 if dtype.kind == "u" else limits.min  # -1 becomes 255, as in C
        if values.min() < low or values.max() > limits.max:
            raise Unfit(
                RuntimeError,
                f"value cannot be converted to type {dtype.name} without overflow",
            )
    return values.astype(dtype)

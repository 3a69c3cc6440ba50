"""Random permutations, number for number PyTorch's: Fisher and Yates' swaps, all of them at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from .mt19937 import Generator, uint64
from .random import cast, digits, torch_names, unsupported
from .registry import raw

_MANY = ((1 << 32) - 1) // 20  # from here on a permutation takes 64-bit words


def randperm(gen: Generator, n: int, dtype: DTypeLike = np.int64) -> np.ndarray:
    """`randperm(n)`: the numbers below n, shuffled by Fisher and Yates' method."""
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype.kind not in "iu" and not digits(dtype):
        raise unsupported("randperm", dtype)
    if digits(dtype) and n > (1 << digits(dtype)) + 1:
        most = (1 << digits(dtype)) + 1
        raise RuntimeError(f"n cannot be greater than {most} for {torch_names(dtype)[0]} type.")
    if dtype.kind in "iu" and n > int(np.iinfo(dtype).max) + 1:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    if n >= _MANY:
        wide = uint64(gen.words(2 * n)) % np.arange(1, n + 1, dtype=np.uint64)
        return cast(swap_backward(wide.astype(np.int64)), dtype)
    if n <= 64:
        return cast(_swap_few(gen, n), dtype)
    targets = np.arange(n)
    targets[:-1] += gen.words(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)
    return cast(raw.swapped(targets), dtype)


def _swap_few(gen: Generator, n: int) -> np.ndarray:
    order = list(range(n))
    for i, word in enumerate(gen.words(max(n - 1, 0)).tolist()):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)


def swap_forward(target: np.ndarray) -> np.ndarray:
    """The result of swapping place i with place target[i] >= i, for i = 0, 1, ..., without the loop.

    Step i takes what lies in place target[i]: its own number, unless an earlier step k had the same
    target; then it is what step k put there, namely what lay in place k at step k. That, in turn, is
    the number k, unless the last step that had k as its target brought something. So `origin` follows
    a chain of places, all of them at once, each round doubling the reach.
    """
    steps = np.arange(target.size)
    previous = _previous_with_same(target)
    last = np.full(target.size, -1)
    last[target] = steps  # of several steps with one target the last one stays
    bringer = np.where(last == steps, previous, last)
    origin = _ends_of_chains(np.where(bringer < 0, steps, bringer))
    return np.where(previous < 0, target, origin[previous])


def swap_backward(target: np.ndarray) -> np.ndarray:
    """The result of `r[i] = r[t]; r[t] = i` with t = target[i] <= i, for i = 0, 1, ..., without the loop."""
    steps = np.arange(target.size)
    previous = _previous_with_same(target)
    # Place i gets at step i what the previous writer left in place t, or what t itself was given.
    giver = _ends_of_chains(np.where(previous < 0, target, steps))
    result: np.ndarray = np.where(previous < 0, steps, previous)[giver]
    result[target] = steps  # the last step that writes to a place has the last word
    return result


def _ends_of_chains(link: np.ndarray) -> np.ndarray:
    while True:
        further = link[link]
        if np.array_equal(further, link):
            return link
        link = further


def _previous_with_same(target: np.ndarray) -> np.ndarray:
    """For each step the latest earlier step with the same target, or -1."""
    order = np.argsort((target & 0xFFFF).astype(np.uint16), kind="stable")  # 16 bits: a radix sort
    if target.size > 1 << 16:
        order = order[np.argsort((target >> 16).astype(np.uint16)[order], kind="stable")]
    ordered = target[order]
    previous = np.empty(target.size, np.int64)
    previous[order[:1]] = -1
    previous[order[1:]] = np.where(ordered[1:] == ordered[:-1], order[:-1], -1)
    return previous

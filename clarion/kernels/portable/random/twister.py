"""Words of the Mersenne Twister, and trials that are decided by them."""

from __future__ import annotations

from typing import Any

from ...everywhere import from_host
from ...registry import kernel


@kernel("words_of_twister")
def words_of_twister(xp: Any, words: Any, bits: Any) -> Any:
    """The next words of NumPy's generator `bits`, which is at the end of a block, into `words`: whole blocks."""
    words[:] = from_host(xp, bits.random_raw(words.size))
    return words


@kernel("trials")
def trials(xp: Any, hits: Any, words: Any, limit: int) -> Any:
    """Into `hits`: which 53-bit integers lie below `limit`. Two words make one, the first is its high end.

    The high word decides, save once in two million times.
    """
    high_limit, low_limit = limit >> 32, limit & 0xFFFFFFFF
    high = words[0::2] & xp.uint32(0x1FFFFF)
    xp.less(high, xp.uint32(high_limit), out=hits)
    if low_limit:
        (unsure,) = (high == xp.uint32(high_limit)).nonzero()
        if unsure.size:
            hits[unsure] = words[1::2][unsure] < low_limit
    return hits


@kernel("packed_trials")
def packed_trials(xp: Any, packed: Any, words: Any, limit: int) -> Any:
    """`trials`, eight in a byte, the first in its lowest bit; as many as fill whole bytes."""
    packed[:] = xp.packbits(trials(xp, xp.empty(words.size // 2, bool), words, limit), bitorder="little")
    return packed


@kernel("trial_factors")
def trial_factors(xp: Any, words: Any, limit: int, factor: Any, shape: tuple[int, ...]) -> Any:
    """`factor` (an array without dimensions) where `trials` hit, else 0."""
    hits = trials(xp, xp.empty(words.size // 2, bool), words, limit)
    return xp.multiply(hits, factor, dtype=factor.dtype).reshape(shape)


@kernel("remainders")
def remainders(xp: Any, words: Any, count: int, first: int, shape: tuple[int, ...]) -> Any:
    """first + word % count."""
    return (xp.remainder(words, xp.uint32(count)).astype(xp.int64) + first).reshape(shape)


@kernel("are_chances")
def are_chances(xp: Any, chances: Any) -> bool:
    """Do all numbers lie between 0 and 1? (NaN does not.)"""
    return bool(((chances >= 0) & (chances <= 1)).all())


@kernel("trials_each")
def trials_each(xp: Any, words: Any, chances: Any) -> Any:
    """1 where the uniform number that a word makes (`unit_float32`) lies below a chance of its own, else 0."""
    units = (words & 0xFFFFFF).astype(xp.float32) * xp.float32(2.0**-24)
    return (units.reshape(chances.shape) < chances).astype(chances.dtype)

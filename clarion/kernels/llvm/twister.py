"""The Mersenne Twister, sixteen words at a time, in the memory of NumPy's generator; and trials that are decided by its words.

A word of a new block is made of the ones 624, 623 and 227 before it: no two of sixteen neighbours need each other.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ... import config
from ..registry import offer
from . import machine
from .places import address
from .text import Function, literal, module, with_lanes

LEAST = 1 if config.COMPILE == "all" else 256  # words, or trials, from which a call is worth it
_BLOCK, _BACK, _LANES = 624, 227, 16
_WORDS, _PAIRS = with_lanes(_LANES, "i32"), with_lanes(8, "i64")
_TEMPER = (("lshr", 11, -1), ("shl", 7, 0x9D2C5680), ("shl", 15, 0xEFC60000), ("lshr", 18, -1))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >= 1 << 31 else word


def _mixed(f: Function, old: str, after: str, far: str) -> str:
    """A word of the new block."""

    def and_(value: str, mask: int) -> str:
        return f.op("and", _WORDS, value, literal(_WORDS, _signed(mask)))

    both = f.op("or", _WORDS, and_(old, 0x80000000), and_(after, 0x7FFFFFFF))
    odd = f.op("sub", _WORDS, literal(_WORDS, 0), and_(both, 1))
    halved = f.op("lshr", _WORDS, both, literal(_WORDS, 1))
    return f.op("xor", _WORDS, f.op("xor", _WORDS, far, halved), and_(odd, 0x9908B0DF))


def _tempered(f: Function, value: str) -> str:
    for word, by, mask in _TEMPER:
        moved = f.op(word, _WORDS, value, literal(_WORDS, by))
        value = f.op("xor", _WORDS, value, f.op("and", _WORDS, moved, literal(_WORDS, _signed(mask))))
    return value


def _words() -> Function:
    """So many blocks of words to `out`; `key` becomes the last one's."""
    f = Function("words", "void", "ptr key", "ptr out", "i64 blocks")
    size = str(4 * _BLOCK)
    room = f.reserve("i32", _BLOCK + _LANES)  # a block; behind its end, what it begins with
    f.call("llvm.memcpy.p0.p0.i64", "void", f"ptr {room}", "ptr %key", f"i64 {size}", "i1 false")
    target = f.variable("ptr", "%out")

    def at(number: str, by: int = 0) -> str:
        return f.element(room, f.op("add", "i64", number, str(by)), "i32")

    def some(first: int, end: int, far: int) -> None:
        with f.counted(str(first), str(end), str(_LANES)) as k:
            parts = [f.load(_WORDS, at(k, by), 4) for by in (0, 1, far)]
            new = _mixed(f, *parts)
            f.store(_WORDS, new, at(k), 4)
            if not first:
                with f.when(f.op("icmp eq", "i64", k, "0")):
                    f.store(_WORDS, new, at(str(_BLOCK)), 4)
            f.store(_WORDS, _tempered(f, new), target.get(), 4)
            target.set(f.offset(target.get(), str(4 * _LANES)))

    turn = -(-_BACK // _LANES) * _LANES
    with f.counted("0", "%blocks"):
        some(0, turn, _BLOCK - _BACK)
        some(turn, _BLOCK, -_BACK)
    f.call("llvm.memcpy.p0.p0.i64", "void", "ptr %key", f"ptr {room}", f"i64 {size}", "i1 false")
    f.end()
    return f


def _trials(packed: bool) -> Function:
    """Which of 53-bit integers lie below a limit, eight at a time."""
    f = Function("packed_trials" if packed else "trials", "void", "ptr words", "ptr out", "i64 eights", "i64 limit")
    limit = f.spread(_PAIRS, "%limit")
    with f.counted("0", "%eights") as k:
        pairs = f.load(_PAIRS, f.offset("%words", f.op("mul", "i64", k, "64")), 4)
        turned = f.intrinsic("fshl", _PAIRS, pairs, pairs, literal(_PAIRS, 32))  # the first word is the high one
        below = f.op("icmp ult", _PAIRS, f.op("and", _PAIRS, turned, literal(_PAIRS, (1 << 53) - 1)), limit)
        if packed:
            f.store("i8", f.cast("bitcast", "<8 x i1>", below, "i8"), f.offset("%out", k), 1)
        else:
            flags = f.cast("zext", "<8 x i1>", below, "<8 x i8>")
            f.store("<8 x i8>", flags, f.offset("%out", f.op("mul", "i64", k, "8")), 1)
    f.end()
    return f


class _Twister:
    """The compiled functions."""

    def __init__(self) -> None:
        if not machine.x86():  # (the pairs of words are read as numbers whose low end comes first)
            raise machine.NoCompiler
        engine = machine.compiled(module([_words(), _trials(False), _trials(True)]))
        pointer, whole = ctypes.c_void_p, ctypes.c_int64
        self.words = machine.callable_at(machine.address(engine, "words"), None, pointer, pointer, whole)
        self.trials, self.packed_trials = (
            machine.callable_at(machine.address(engine, name), None, pointer, pointer, whole, whole)
            for name in ("trials", "packed_trials")
        )
        mine, numpys = np.random.MT19937(), np.random.MT19937()
        for each in (mine, numpys):
            np.random.RandomState(each).seed(7)  # at the end of a block
        if (self.draw(np.empty(2 * _BLOCK, np.uint32), mine) != numpys.random_raw(2 * _BLOCK)).any():
            raise machine.NoCompiler  # NumPy keeps its words in another way than it did

    def draw(self, words: Any, bits: Any) -> Any:
        """Whole blocks of the words of a generator."""
        self.words(bits.ctypes.state_address, address(words), words.size // _BLOCK)
        return words


@functools.cache
def _twister() -> _Twister | None:
    """The functions, compiled at first use; None where there are none."""
    try:
        return _Twister()
    except machine.NoCompiler:
        return None


def _draw(words: Any, bits: Any) -> Any:
    on = _twister()
    return NotImplemented if on is None else on.draw(words, bits)


def _tried(name: str) -> Any:
    def run(out: Any, words: Any, limit: int) -> Any:
        on, eights = _twister(), words.size // 16
        if on is None or 16 * eights != words.size:
            return NotImplemented
        getattr(on, name)(address(words), address(out), eights, limit)
        return out

    return run


def make() -> None:
    """Make all offers."""
    offer("words_of_twister", "llvm", _draw, least=LEAST)
    for name in ("trials", "packed_trials"):
        offer(name, "llvm", _tried(name), least=max(1, LEAST // 8))

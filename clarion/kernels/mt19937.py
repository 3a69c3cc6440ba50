"""The CPU random generator: a Mersenne Twister that draws and stores exactly what PyTorch's does.

PyTorch's CPU generator is mt19937 seeded by `init_genrand` with the low 32 bits of the seed, plus two
remembered normal samples. NumPy's `MT19937` is the same recurrence, so NumPy makes the words and this
file keeps the books: which block of 624 words is current, how many of it are used, what is remembered.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from ..forks import fork_safe
from .registry import raw

_N = 624  # words per block of the Mersenne Twister
_U64 = (1 << 64) - 1

# PyTorch's CPUGeneratorImplState, byte by byte (the gaps are its padding).
_STATE_SIZE = 5056
_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "y", "y_valid", "f", "f_valid"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", (_N,)), "<f8", "<i4", "<f4", "?"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040, 5048, 5052],
        "itemsize": _STATE_SIZE,
    }
)


class _NoSeed(ISeedSequence):
    """What a new bit generator starts from at no cost: it is seeded at once, and NumPy's own first state takes 0.15 ms."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return (0,) * n_words


_NO_SEED: Any = _NoSeed()


class Generator:
    """A source of random 32-bit words with PyTorch's seeding, state bytes and remembered normals.

    NOTE [whole blocks]: the underlying bit generator is always at the end of a block: words are taken
    from it 624 at a time, and what is not yet used waits in `_block`. So its key is the key of the
    current block, which is what PyTorch's state holds, and a small draw is one slice.
    """

    __slots__ = (
        "__weakref__",
        "_at",
        "_bits",
        "_block",
        "_fresh",
        "_lock",
        "_normal_end",
        "_normals",
        "_normals_from",
        "_seed",
        "_seeder",
        "_told",
        "_turns",
        "_units",
        "next_double",
        "next_float",
    )

    DEFAULT_SEED = 67280421310721  # what a new torch.Generator() starts from

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._bits = np.random.MT19937(_NO_SEED)
        self._seeder = np.random.RandomState(self._bits)  # only to reach init_genrand
        self._lock = fork_safe(threading.Lock())
        fork_safe(self._bits.lock)  # NumPy's own, around each of its draws
        self._block = np.empty(_N, np.uint32)
        self._normals: np.ndarray | None = (
            None  # the words from `_normals_from` on (below 0: of the block before) as normals
        )
        self._normals_from = 0
        self._normal_end = -1  # where in the block the last draw of normals ended
        self._units: np.ndarray | None = None  # the words of `_block` as float32 in [0, 1), when somebody asks
        self.next_double: float | None = None  # second half of the last Box-Muller pair
        self.next_float: float | None = None  # never set by the CPU kernels, but part of the state
        self._turns = 0  # how often the sequence moved on by other ways than `_at`
        self._told: tuple[Any, np.ndarray] | None = None  # the last state that somebody asked for, and when
        self.manual_seed(seed)

    # -- seeds ----------------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> Generator:
        """Restart from `seed`, any signed or unsigned 64-bit integer; a negative one wraps around."""
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = seed.__index__()
        if not -(1 << 63) <= seed <= _U64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} does not fit in 64 bits")
        with self._lock:
            self._seed = seed & _U64
            self._turns += 1
            self._seeder.seed(self._seed & 0xFFFFFFFF)
            self._at, self._fresh, self._normal_end = _N, True, -1
            self.next_double = self.next_float = None
        return self

    def seed(self) -> int:
        """Restart from a seed the operating system picks (53 bits, as PyTorch's), and return it."""
        seed = int.from_bytes(os.urandom(8), "little") & 0x1FFFFFFFFFFFFF
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        return self._seed

    # -- words ----------------------------------------------------------------------------------

    def words(self, n: int) -> np.ndarray:
        """The next `n` 32-bit words, in an array of the caller's own."""
        with self._lock:
            start, end = self._at, self._at + n
            if end <= _N:
                self._at = end
                return self._block[start:end].copy()
            out = np.empty(n, np.uint32)
            have = _N - start
            out[:have] = self._block[start:]
            whole = (n - have) // _N * _N
            if whole:
                self._turns += 1
                raw.words_of_twister(out[have : have + whole], self._bits)
            rest = n - have - whole
            self._fresh, self._at = False, _N
            if rest:
                self._refill()
                out[n - rest :] = self._block[:rest]
                self._at = rest
            return out

    def unit_floats(self, n: int) -> np.ndarray:
        """The next `n` words as float32 in [0, 1). A whole block is converted at once: small draws are a slice of it."""
        with self._lock:
            start, end = self._at, self._at + n
            if end <= _N:
                self._at = end
                if self._units is None:
                    self._units = unit_float32(self._block.copy())
                return self._units[start:end].copy()
        return unit_float32(self.words(n))

    def standard_normals(self, n: int, transform: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The next `n` words, a multiple of sixteen, as float32 by `transform`, which maps sixteen uniforms to as many.

        It costs hardly more for the rest of the block than for a few numbers. So where a draw follows another one
        directly, it transforms the rest, and those after it are slices.
        """
        with self._lock:
            start, end = self._at, self._at + n
            if end <= _N:
                known = self._normals
                if known is None or start < self._normals_from or (start - self._normals_from) % 16:
                    count = (_N - start) // 16 * 16 if start == self._normal_end else n
                    known = transform(unit_float32(self._block[start : start + count].copy()))
                    if count > n:
                        self._normals, self._normals_from = known, start
                    first = 0
                else:
                    first = start - self._normals_from
                self._at = self._normal_end = end
                return known[first : first + n].copy()
            if start == self._normal_end and end <= 2 * _N:  # across two blocks: the rest of the second one, too
                rest = self._block[start:]
                self._refill()
                words = np.concatenate((rest, self._block))
                known = transform(unit_float32(words[: words.size // 16 * 16]))
                self._normals, self._normals_from = known, start - _N
                self._fresh, self._at, self._normal_end = False, end - _N, end - _N
                return known[:n].copy()
        drawn = transform(unit_float32(self.words(n)))
        self._normal_end = self._at
        return drawn

    def _refill(self) -> None:
        self._use(raw.words_of_twister(np.empty(_N, np.uint32), self._bits))

    def _advance(self) -> None:
        """Go on with the next block: all words of this one are used."""
        self._refill()
        self._fresh = False

    def _use(self, block: np.ndarray) -> None:
        self._turns += 1
        self._block = block
        self._units = self._normals = None
        self._at, self._normal_end = 0, -1

    def unit_doubles(self) -> Iterator[float]:
        """Doubles in [0, 1) one by one, for the samplers that cannot know how many they will need.

        Each one is consumed only when it is asked for. Not for use by several threads at once.
        """
        while True:
            ahead = (_N - self._at) // 2 * 2
            if not ahead:  # the next pair of words lies across two blocks
                yield float(unit_float64(self.words(2))[0])
                continue
            for value in unit_float64(self._block[self._at : self._at + ahead]).tolist():
                self._at += 2
                yield value

    # -- state ----------------------------------------------------------------------------------

    def moment(self) -> tuple[Any, ...]:
        """Something that is equal as long as nothing is drawn, seeded or set."""
        return self._turns, self._at, self.next_double, self.next_float

    def get_state(self) -> np.ndarray:
        """The state as bytes that `torch.set_rng_state` accepts."""
        with self._lock:
            told = self._told
            if told is not None and told[0] == self.moment():
                return told[1].copy()
            state = np.zeros(_STATE_SIZE, np.uint8)
            record = state.view(_STATE)
            if told is not None and told[0][0] == self._turns:  # in the same block: to ask NumPy for it takes long
                record["key"] = told[1].view(_STATE)["key"]
            else:
                record["key"] = self._bits.state["state"]["key"]
            record["seed"], record["seeded"] = self._seed, 1
            record["next"] = 0 if self._fresh else self._at
            record["left"] = 1 if self._fresh else _N + 1 - self._at
            if self.next_double is not None:
                record["y"], record["y_valid"] = self.next_double, 1
            if self.next_float is not None:
                record["f"], record["f_valid"] = self.next_float, 1
            self._told = self.moment(), state
        return state.copy()

    def set_state(self, state: np.ndarray) -> Generator:
        """Continue from bytes made by `get_state` or by `torch.get_rng_state`."""
        state = np.asarray(state)
        if state.dtype != np.uint8:
            raise TypeError(f"RNG state must be a ByteTensor, but it is an array of {state.dtype}")
        if state.size != _STATE_SIZE:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE_SIZE} "
                f"but found the input RNG state size to be {state.size}"
            )
        record = np.frombuffer(state.tobytes(), _STATE)[0]
        left, position = int(record["left"]), int(record["next"])
        fresh = position == 0 and left == 1
        if not record["seeded"] or not (fresh or (0 <= position <= _N and left == _N + 1 - position)):
            raise RuntimeError("Invalid mt19937 state")
        with self._lock:
            self._turns += 1
            key = record["key"].astype(np.uint32)
            self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _N if fresh else 0}}
            self._seed, self._fresh, self._at = int(record["seed"]), fresh, _N
            if not fresh:  # replay the current block, see NOTE [whole blocks]
                self._use(self._bits.random_raw(_N).astype(np.uint32))
                self._at = position
            self.next_double = float(record["y"]) if record["y_valid"] else None
            self.next_float = float(record["f"]) if record["f_valid"] else None
        return self

    def clone_state(self) -> Generator:
        """A second generator that will draw the same numbers as this one."""
        return Generator().set_state(self.get_state())

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.get_state(),)


def _restore(state: np.ndarray) -> Generator:
    return Generator().set_state(state)


def unit_float32(words: np.ndarray) -> np.ndarray:
    """float32 in [0, 1) from the low 24 bits of each word. Overwrites `words`."""
    np.bitwise_and(words, 0xFFFFFF, out=words)
    unit = words.view(np.int32).astype(np.float32)  # signed: the conversion is then one instruction
    unit *= np.float32(2.0**-24)
    return unit


def unit_float64(words: np.ndarray) -> np.ndarray:
    """float64 in [0, 1) from the low 53 bits of each pair of words, the first word being the high one."""
    unit = (words[0::2] & 0x1FFFFF).astype(np.float64)
    unit *= 2.0**32
    unit += words[1::2]
    unit *= 2.0**-53
    return unit


def uint64(words: np.ndarray) -> np.ndarray:
    """64-bit integers from pairs of words, the first word being the high one."""
    wide = words[0::2].astype(np.uint64)
    wide <<= np.uint64(32)
    wide |= words[1::2]
    return wide


default_generator = Generator()
default_generator.seed()

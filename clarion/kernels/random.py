"""Random draws on raw arrays, number for number what PyTorch draws on the CPU.

Every function takes a `Generator` first and returns a new C-contiguous array. It consumes exactly the
words PyTorch consumes, so any sequence of calls stays in step with the same sequence in PyTorch.
What only scales integers (uniform, integers, permutations, Bernoulli) agrees bit for bit; what takes
logarithms and sines agrees to a unit or two in the last place (see boxmuller.py for the normals).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .blocks import largest, smallest
from .boxmuller import box_muller64, box_muller_pairs, fma32, fma64
from .mt19937 import Generator as Generator
from .mt19937 import default_generator as default_generator
from .mt19937 import uint64, unit_float32, unit_float64
from .registry import raw

Shape = int | Sequence[int]

# Numbers per round: a multiple of 16, in the cache. Up to so many float32 normals the fused arithmetic is worth its time.
_CHUNK, _EXACT_NORMALS = 1 << 16, 1 << 17
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_FEW = 512  # numbers that are drawn without going through pieces
_NARROW = 1 << 28  # so many whole numbers are drawn from two words each
_FLOAT32, _FLOAT64, _INT64, _BOOL = map(np.dtype, (np.float32, np.float64, np.int64, np.bool_))
_ONES = {kind: np.ones((), kind) for kind in (_FLOAT32, _FLOAT64)}  # what hits are worth

_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}  # bits of a significand, with the hidden one
# PyTorch names a dtype in two ways in its messages
_TORCH_NAMES = {
    "float16": ("Half", "c10::Half"), "bfloat16": ("BFloat16", "c10::BFloat16"), "float32": ("Float", "float"),
    "float64": ("Double", "double"), "int8": ("Char", "signed char"), "uint8": ("Byte", "unsigned char"),
    "int16": ("Short", "short int"), "int32": ("Int", "int"), "int64": ("Long", "long int"), "bool": ("Bool", "bool"),
    "uint16": ("UInt16", "short unsigned int"), "uint32": ("UInt32", "unsigned int"),
    "uint64": ("UInt64", "long unsigned int"), "complex64": ("ComplexFloat", "c10::complex<float>"),
    "complex128": ("ComplexDouble", "c10::complex<double>"), "complex32": ("ComplexHalf", "c10::complex<c10::Half>"),
}  # fmt: skip


@lru_cache(maxsize=64)
def digits(dtype: np.dtype) -> int:
    """Bits of the significand of a float dtype; 0 for any other. (NumPy works `dtype.name` out each time.)"""
    return _DIGITS.get(dtype.name, 0)


@lru_cache(maxsize=64)
def torch_names(dtype: np.dtype) -> tuple[str, str]:
    """How PyTorch's messages call a dtype: by the name of its tensors, and of its numbers."""
    return _TORCH_NAMES.get(dtype.name, (dtype.name, dtype.name))


def unsupported(kernel: str, dtype: np.dtype) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{torch_names(dtype)[0]}'")


def _pieces(n: int) -> Iterator[tuple[int, int]]:
    for lo in range(0, n, _CHUNK):
        yield lo, min(lo + _CHUNK, n)


def cast(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """To `dtype` as C++ does it: half types are reached through float32, with its own rounding."""
    if values.dtype == dtype:
        return values
    if dtype is _FLOAT32 and values.dtype is _INT64:  # (nothing can go wrong)
        return values.astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # too large becomes infinity, as in C++
        if 0 < digits(dtype) < 24:
            values = values.astype(np.float32, copy=False)
        return values.astype(dtype, copy=False)


def from_doubles(
    gen: Generator, shape: Shape, dtype: np.dtype, transform: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """One float64 in [0, 1) per element, transformed and cast."""
    out = np.empty(shape, dtype)
    if out.size <= _CHUNK:
        return cast(transform(unit_float64(gen.words(2 * out.size))), dtype).reshape(out.shape)
    flat = out.reshape(-1)
    for lo, hi in _pieces(flat.size):
        flat[lo:hi] = cast(transform(unit_float64(gen.words(2 * (hi - lo)))), dtype)
    return out


def write(out: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Put `values`, in the order drawn, into `out` in the order PyTorch fills: that of `out`'s memory.

    For a C-contiguous `out` this is a plain copy; a transposed view is filled along its memory.
    """
    if out.flags.c_contiguous:
        out[...] = values.reshape(out.shape)
        return out
    order = sorted(range(out.ndim), key=lambda d: -abs(out.strides[d]))
    along = out.transpose(order)
    along[...] = values.reshape(along.shape)
    return out


# -- uniform ------------------------------------------------------------------------------------------


def uniform(
    gen: Generator, shape: Shape, dtype: DTypeLike = np.float32, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """`rand` and `uniform_(low, high)`; for a complex dtype the two parts are drawn alike."""
    if dtype is not _FLOAT32:
        dtype = np.dtype(dtype)
    if dtype is _FLOAT32:
        whole = low == 0.0 and high == 1.0
        if not whole:
            _check_uniform_bounds(dtype, low, high)
        n = shape if type(shape) is int else math.prod(shape)  # type: ignore[arg-type]
        if n <= _FEW:
            unit = gen.unit_floats(n)
            return (unit if whole else raw.uniforms_between(unit, low, high)).reshape(shape)
        out = np.empty(n, dtype)
        for lo, hi in _pieces(n):
            unit = unit_float32(gen.words(hi - lo))
            out[lo:hi] = unit if whole else raw.uniforms_between(unit, low, high)
        return out.reshape(shape)
    if dtype.kind in "cW":
        return _as_complex(lambda s, d: uniform(gen, s, d, low, high), shape, dtype)
    if not digits(dtype):
        raise unsupported("check_uniform_bounds", dtype)
    if low != 0.0 or high != 1.0:
        _check_uniform_bounds(dtype, low, high)
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    wide = dtype == np.float64
    for lo, hi in _pieces(flat.size):
        if wide:
            values = unit_float64(gen.words(2 * (hi - lo)))
            if low != 0.0 or high != 1.0:
                values = fma64(values, high - low, low)
        else:
            values = unit_float32(gen.words(hi - lo))
            if low != 0.0 or high != 1.0:
                start = np.float32(low)
                values = fma32(values, np.float32(high) - start, start)
        flat[lo:hi] = cast(values, dtype)
    if flat.size and (low != 0.0 or dtype.itemsize == 2):  # rounding may have reached the open end
        flat[flat == np.float64(high).astype(dtype)] = low
    return out


def _check_uniform_bounds(dtype: np.dtype, low: float, high: float) -> None:
    if -1e38 < low <= high < 1e38 and dtype is _FLOAT32:
        return
    largest = _largest(dtype)
    for name, value in (("from", low), ("to", high)):
        if not -largest <= value <= largest:
            raise RuntimeError(f"{name} is out of bounds for {torch_names(dtype)[1]}")
    if not low <= high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if not high - low <= largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{torch_names(dtype)[0]}>::max(), but found "
            f"to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def _largest(dtype: np.dtype) -> float:
    if dtype.name == "bfloat16":
        return (2.0 - 2.0**-7) * 2.0**127
    return float(np.finfo(dtype).max)


def _as_complex(draw: Callable[[tuple[int, ...], np.dtype], np.ndarray], shape: Shape, dtype: np.dtype) -> np.ndarray:
    full = (shape,) if isinstance(shape, int) else tuple(shape)
    parts = draw((*full, 2), np.dtype(f"float{4 * dtype.itemsize}"))
    return parts.view(dtype).reshape(full)


# -- normal -------------------------------------------------------------------------------------------


def normal(
    gen: Generator,
    shape: Shape,
    dtype: DTypeLike = np.float32,
    mean: float = 0.0,
    std: float = 1.0,
    contiguous: bool = True,
) -> np.ndarray:
    """`randn` and `normal_(mean, std)`. A complex number's variance is shared by its two parts.

    PyTorch has two samplers: sixteen at a time for 16 or more numbers in contiguous memory, one by one
    otherwise. Pass `contiguous=False` when the numbers are for a tensor that is not contiguous.
    """
    if dtype is not _FLOAT32:
        dtype = np.dtype(dtype)
    if not std >= 0.0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if dtype.kind in "cW":
        half = std / math.sqrt(2)
        return _as_complex(lambda s, d: normal(gen, s, d, mean, half, contiguous), shape, dtype)
    if dtype is _FLOAT32:
        n = shape if type(shape) is int else math.prod(shape)  # type: ignore[arg-type]
        if n < 16:
            return np.array(_fused(_few_normals(gen, n), std, mean), np.float32).reshape(shape)
        if n <= _FEW and contiguous:
            if n % 16:
                return _odd_normals(gen, n, mean, std).reshape(shape)
            if mean == 0.0 and std == 1.0:
                return gen.standard_normals(n, _box_muller).reshape(shape)
            return raw.normals_by_sixteen(gen.unit_floats(n), mean, std, True).reshape(shape)  # type: ignore[no-any-return]
    out = np.empty(shape, dtype)
    if not digits(dtype) and out.size:  # PyTorch asks nothing about no numbers
        raise unsupported("normal_kernel_cpu", dtype)
    flat = out.reshape(-1)
    if flat.size >= 16 and contiguous:
        _fill_by_sixteen(gen, flat, mean, std)
    elif flat.size:
        flat[:] = cast(fma64(normals_one_by_one(gen, flat.size), std, mean), dtype)
    return out


def _box_muller(unit: np.ndarray) -> np.ndarray:
    return raw.normals_by_sixteen(unit, 0.0, 1.0, True)


def _odd_normals(gen: Generator, n: int, mean: float, std: float) -> np.ndarray:
    """Normals whose number is no multiple of sixteen, as `_fill_by_sixteen` draws them: all in one step."""
    unit, whole = gen.unit_floats(n + 16), n - n % 16
    unit[whole : whole + 16] = unit[n:]
    drawn = raw.normals_by_sixteen(unit[: whole + 16], mean, std, True)
    found = drawn[:n].copy()
    found[n - 16 :] = drawn[whole:]
    return found


def _fill_by_sixteen(gen: Generator, flat: np.ndarray, mean: float, std: float) -> None:
    n = flat.size
    tail = n % 16
    exact = n <= _EXACT_NORMALS

    def draw(count: int) -> np.ndarray:
        if flat.dtype == np.float64:
            return box_muller64(unit_float64(gen.words(2 * count)), mean, std)
        return cast(raw.normals_by_sixteen(unit_float32(gen.words(count)), mean, std, exact), flat.dtype)

    for lo, hi in _pieces(n - tail):
        flat[lo:hi] = draw(hi - lo)
    if tail:
        # The odd end is not transformed but replaced: the last sixteen are drawn anew. The half types
        # skip the uniform numbers of the odd end, the others have drawn them.
        if flat.dtype.itemsize >= 4:
            gen.words(tail * flat.dtype.itemsize // 4)
        flat[n - 16 :] = draw(16)


def normals_one_by_one(gen: Generator, n: int) -> np.ndarray:
    """Standard normals in float64; they come in pairs, and the generator remembers an odd one out."""
    if n < 16:
        return np.array(_few_normals(gen, n), np.float64)
    normals = np.empty(n, np.float64)
    have = 0
    if gen.next_double is not None:
        normals[0], gen.next_double, have = gen.next_double, None, 1
    missing = n - have
    if missing:
        pairs = box_muller_pairs(unit_float64(gen.words(4 * ((missing + 1) // 2))))
        normals[have:] = pairs[:missing]
        if missing % 2:
            gen.next_double = float(pairs[-1])
    return normals


def _few_normals(gen: Generator, n: int) -> list[float]:
    """The same of a few, without arrays: as `box_muller_pairs` makes them."""
    found: list[float] = []
    if n and gen.next_double is not None:
        found.append(gen.next_double)
        gen.next_double = None
    missing = n - len(found)
    if missing:
        words = gen.words(4 * ((missing + 1) // 2)).tolist()
        for at in range(0, len(words), 4):
            high, low, more, less = words[at : at + 4]
            turn, size = ((high & 0x1FFFFF) * 2.0**32 + low) * 2.0**-53, ((more & 0x1FFFFF) * 2.0**32 + less) * 2.0**-53
            radius, angle = math.sqrt(-2.0 * math.log1p(-size)), 2.0 * math.pi * turn
            found += (radius * math.cos(angle), radius * math.sin(angle))
        if missing % 2:
            gen.next_double = found.pop()
    return found


def _fused(values: list[float], scale: float, shift: float) -> Any:
    """`fma64` of a few."""
    return [z * scale + shift for z in values] if not shift else fma64(np.array(values, np.float64), scale, shift)


# -- integers -----------------------------------------------------------------------------------------


def randint(gen: Generator, shape: Shape, low: int, high: int, dtype: DTypeLike = np.int64) -> np.ndarray:
    """`randint(low, high, shape)` and `random_(low, high)`."""
    return random(gen, shape, dtype, low, high)


def random(
    gen: Generator, shape: Shape, dtype: DTypeLike = np.int64, low: int | None = None, high: int | None = None
) -> np.ndarray:
    """`random_()` without `low`, `random_(low, None)` without `high`, else `random_(low, high)`."""
    if dtype is not _INT64:
        dtype = np.dtype(dtype)
    elif low is not None and high is not None and 0 < high - low < _NARROW and _INT64_MIN < low <= _INT64_MAX - _NARROW:
        if type(shape) is tuple and (n := math.prod(shape)) <= _FEW:
            return raw.remainders(gen.words(n), high - low, low, shape)  # type: ignore[no-any-return]
    if low is None:
        return _integers(gen, shape, dtype, *_natural_range(dtype))
    if high is None and low == _INT64_MIN:
        if dtype != np.int64 and (not digits(dtype) or dtype == np.float16):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        return _integers(gen, shape, dtype, 0, 1 << 64, wide=True)
    if dtype is not _INT64 or high is None or not _INT64_MIN < low < high <= _INT64_MAX:
        low, high = _check_range(dtype, low, high)
    return _integers(gen, shape, dtype, low, high - low, wide=high - low >= _NARROW)


def _natural_range(dtype: np.dtype) -> tuple[int, int, bool]:
    """(first, how many, 64-bit words) for `random_()`: all non-negative integers, or those a float holds."""
    if digits(dtype):
        return 0, (1 << digits(dtype)) + 1, dtype == np.float64
    if dtype.kind == "b":
        return 0, 2, False
    if dtype.kind == "i" or dtype == np.uint8:
        return 0, int(np.iinfo(dtype).max) + 1, dtype == np.int64
    raise unsupported("random_kernel_cpu", dtype)


def _integers(gen: Generator, shape: Shape, dtype: np.dtype, first: int, count: int, wide: bool) -> np.ndarray:
    """first + word % count, in wrapping 64-bit arithmetic."""
    n = shape if isinstance(shape, int) else math.prod(shape)
    if n <= _FEW and not wide:
        return cast(raw.remainders(gen.words(n), count, first, (n,) if isinstance(shape, int) else tuple(shape)), dtype)
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    for lo, hi in _pieces(flat.size):
        if wide:
            words = uint64(gen.words(2 * (hi - lo)))
            if count < 1 << 64:
                words %= np.uint64(count)
        else:
            words = gen.words(hi - lo)
            words -= words // np.uint32(count) * np.uint32(count)  # quicker than NumPy's %
        values = words.astype(np.int64)
        if first:
            values += np.int64(first)
        flat[lo:hi] = cast(values, dtype)
    return out


def _check_range(dtype: np.dtype, low: int, high: int | None) -> tuple[int, int]:
    """The range really used: a float dtype moves the ends to numbers it can hold."""
    floating = digits(dtype) > 0
    if not floating and dtype.kind not in "iub":
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    if high is None:
        if floating:
            high, low = (1 << digits(dtype)) + 1, _move_low(dtype, low)
        else:
            high = int(_limits(dtype)[1]) + 1
    else:
        if not low < high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if floating:
            low, high = _move_low(dtype, low), _move_high(dtype, high)
    if floating and not low < high:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
            f"but got from={low} >= to={high}"
        )
    for name, value in (("from", low), ("to - 1", high - 1)):
        _check_bound(dtype, name, value)
    return low, high


@lru_cache(maxsize=64)
def _limits(dtype: np.dtype) -> tuple[float, float]:
    if digits(dtype):
        return -_largest(dtype), _largest(dtype)
    if dtype.kind == "b":
        return 0, 1
    return int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), _INT64_MAX)


def _check_bound(dtype: np.dtype, name: str, value: int) -> None:
    least, most = _limits(dtype)
    if not least <= value <= most:
        raise RuntimeError(f"{name} is out of bounds for {torch_names(dtype)[1]}")
    bits = digits(dtype)
    if bits and abs(value) > 1 << bits:
        warnings.warn(
            f"{name} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations "
            f"{torch_names(dtype)[1]} can support discrete uniform distribution only within this range.",
            UserWarning,
            stacklevel=5,
        )


def _through(dtype: np.dtype, value: int) -> int:
    """An integer as `dtype` would hold it; what does not come back fits no 64 bits, as in C on x86."""
    back = float(cast(np.array(value, np.int64), dtype))
    return int(back) if -(2.0**63) <= back < 2.0**63 else _INT64_MIN


def _move_low(dtype: np.dtype, low: int) -> int:
    above = _through(dtype, low + 1)
    if above < low:
        low = above + (1 << (abs(low + 1).bit_length() - digits(dtype)))
    return low


def _move_high(dtype: np.dtype, high: int) -> int:
    below = _through(dtype, high - 1)
    if below >= high:
        high = below - (1 << (abs(high - 1).bit_length() - digits(dtype)))
    return high


# -- Bernoulli and dropout ----------------------------------------------------------------------------


def bernoulli(gen: Generator, shape: Shape, p: float, dtype: DTypeLike = np.float32) -> np.ndarray:
    """`bernoulli_(p)` with one probability for all: 1 with probability p, else 0."""
    dtype = np.dtype(dtype)
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if dtype.kind not in "iub" and not digits(dtype):
        raise unsupported("bernoulli_scalar_cpu_", dtype)
    return _trials(gen, shape, p, dtype)  # 53-bit integers are compared with p * 2**53


def _trials(gen: Generator, shape: Shape, p: float, dtype: np.dtype) -> np.ndarray:
    limit, n = math.ceil(p * 2.0**53), shape if isinstance(shape, int) else math.prod(shape)
    if n <= _FEW and dtype in _ONES and type(shape) is tuple:
        return raw.trial_factors(gen.words(2 * n), limit, _ONES[dtype], shape)  # type: ignore[no-any-return]
    if n <= _CHUNK:
        return _hits(gen, n, limit).astype(dtype, copy=False).reshape(shape)
    out = np.empty(shape, dtype)
    flat = out.reshape(-1)
    for lo, hi in _pieces(n):
        flat[lo:hi] = _hits(gen, hi - lo, limit)
    return out


def _hits(gen: Generator, n: int, limit: int) -> np.ndarray:
    """Which of the next `n` 53-bit integers lie below `limit`."""
    return raw.trials(np.empty(n, _BOOL), gen.words(2 * n), limit)  # type: ignore[no-any-return]


def bernoulli_each(gen: Generator, p: np.ndarray, dtype: DTypeLike | None = None) -> np.ndarray:
    """`bernoulli(p)` and `bernoulli_(p)` with an array of probabilities, one trial for each."""
    dtype = p.dtype if dtype is None else np.dtype(dtype)
    wide = p.dtype is _FLOAT64
    if not wide and p.dtype is not _FLOAT32 and not digits(p.dtype):
        raise unsupported("bernoulli_tensor_cpu_p_", p.dtype)
    if dtype.kind not in "iubf" and not digits(dtype):
        raise unsupported("bernoulli_tensor_cpu_self_", dtype)
    if p.dtype is dtype is _FLOAT32 and 0 < p.size <= _FEW and p.flags.c_contiguous and raw.are_chances(p):
        return raw.trials_each(gen.words(p.size), p)  # type: ignore[no-any-return]
    chance: np.ndarray = p if wide else p.astype(np.float32, copy=False)
    chance = chance.reshape(-1)
    # (The comparison is false for NaN, which is no probability either.)
    if chance.size and not (smallest(chance) >= 0 and largest(chance) <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false: a probability is outside [0, 1]")
    out = np.empty(p.shape, dtype)
    flat = out.reshape(-1)
    for lo, hi in _pieces(flat.size):
        unit = unit_float64(gen.words(2 * (hi - lo))) if wide else gen.unit_floats(hi - lo)
        np.less(unit, chance[lo:hi], out=flat[lo:hi], casting="unsafe")
    return out


def dropout_mask(gen: Generator, shape: Shape, p: float) -> np.ndarray:
    """What `dropout(x, p)` keeps, as booleans. Like PyTorch it draws nothing when p is 0 or 1."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or p == 1:
        return np.full(shape, p == 0)
    return _trials(gen, shape, 1 - p, _BOOL)


def dropout_bits(gen: Generator, n: int, p: float) -> np.ndarray:
    """`dropout_mask` of `n` numbers, eight in a byte, the first in its lowest bit; some bytes more, to be read in vain."""
    limit, packed = math.ceil((1 - p) * 2.0**53), np.zeros(n // 8 + 8, np.uint8)
    for lo, hi in _pieces(n):
        raw.packed_trials(packed[lo // 8 : -(-hi // 8)], gen.words(2 * (hi - lo)), limit)
    return packed

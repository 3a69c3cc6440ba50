"""The arithmetic behind PyTorch's uniform and normal samples, reproduced to the last bit.

NOTE [fused arithmetic]: PyTorch's kernels are compiled so that `a * b + c` is one fused instruction,
rounded once. NumPy has no such instruction. For float32 the product of two floats is exact in float64,
so one addition there and one rounding back gives the fused result, unless the float64 sum was itself
rounded to exactly half way between two floats; `fma32` looks for that case and repairs it. For float64
`fma64` carries the exact errors of the product and the sums along (Boldo and Melquiond, 2008).
"""

from __future__ import annotations

import math

import numpy as np

_f32 = np.float32
_EIGHT = np.dtype((np.void, 32))  # eight float32

# Cephes' polynomials and constants for log, sin and cos in single precision.
LOG = tuple(
    map(_f32, (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
               -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1))
)  # fmt: skip
COS_SIN = np.array(
    [[2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2],
     [-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1]], np.float32,
).T[:, :, None]  # fmt: skip
LN2_HIGH, LN2_LOW = _f32(0.693359375), _f32(-2.12194440e-4)
SQRT_HALF_BITS = 0x3F3504F3
FOUR_OVER_PI = _f32(1.27323954473516)
QUARTER_PI = (_f32(-0.78515625), _f32(-2.4187564849853515625e-4), np.float64(_f32(-3.77489497744594108e-8)))


def fma32(x: np.ndarray, scale: np.float32, shift: np.float32) -> np.ndarray:
    """float32 `x * scale + shift` rounded once."""
    if shift == 0:
        return (x if scale == 1 else x * scale) + shift  # the sum still matters: it turns -0 into 0
    product = x.astype(np.float64) * np.float64(scale)
    total = product + np.float64(shift)
    result = total.astype(np.float32)
    half_way = np.flatnonzero((total.view(np.int64) & 0x1FFFFFFF) == 0x10000000)
    if half_way.size:
        total, product = total[half_way], product[half_way]
        back = total - product  # Knuth's two-sum: what the float64 addition lost
        lost = (product - (total - back)) + (np.float64(shift) - back)
        result[half_way] = np.nextafter(total, np.copysign(np.inf, lost), where=lost != 0, out=total)
    return result


def fma64(x: np.ndarray, scale: float, shift: float) -> np.ndarray:
    """float64 `x * scale + shift` rounded once."""
    if shift == 0:
        return x * scale + shift
    if math.frexp(scale)[0] in (0.5, -0.5):  # a power of two: the product is exact
        return x * scale + shift
    high, low = _two_product(x, scale)
    mid, rest = _two_sum(low, shift)
    high, mid = _two_sum(high, mid)
    # Add the two small parts with rounding to odd: it keeps the last rounding an honest one.
    tail, lost = _two_sum(mid, rest)
    even = (tail.view(np.int64) & 1) == 0
    np.nextafter(tail, np.copysign(np.inf, lost), where=even & (lost != 0), out=tail)
    result: np.ndarray = high + tail
    return result


def _two_sum(a: np.ndarray, b: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _two_product(a: np.ndarray, b: float) -> tuple[np.ndarray, np.ndarray]:
    product = a * b
    a_high = a * 134217729.0  # Dekker's split: 2**27 + 1
    a_high = a_high - (a_high - a)
    a_low = a - a_high
    b_high = b * 134217729.0
    b_high = b_high - (b_high - b)
    b_low = b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _multiply_add(a: np.ndarray, b: np.ndarray | np.float64, c: np.ndarray | np.float32) -> None:
    """a = a * b + c in place, in float32: fused if b is float64 (it holds float32 values either way).

    The half-way repair of `fma32` is left out: it is needed about once in 10**8 numbers.
    """
    if b.dtype == np.float32:
        a *= b
        a += c
        return
    wide = a.astype(np.float64)
    wide *= b
    wide += c
    a[...] = wide


def _log(x: np.ndarray, exact: bool) -> np.ndarray:
    """Cephes logf for normal positive x, with or without fused arithmetic. Overwrites `x`."""
    bits = x.view(np.int32)
    power = bits - SQRT_HALF_BITS
    power >>= 23
    bits -= power << 23  # now sqrt(1/2) <= x < sqrt(2), and `power` holds the power of two taken out
    exponent = power.astype(np.float32)
    x -= _f32(1)
    square = x * x
    factor, factor_square = (x.astype(np.float64), square.astype(np.float64)) if exact else (x, square)
    value = (factor * LOG[0] + LOG[1]).astype(np.float32, copy=False)
    for c in LOG[2:]:
        _multiply_add(value, factor, c)
    value *= x
    _multiply_add(value, factor_square, exponent * LN2_LOW)
    square *= _f32(0.5)
    value -= square
    x += value
    exponent *= LN2_HIGH  # exact: few bits times few bits
    x += exponent
    return x


def _cos_sin(x: np.ndarray) -> np.ndarray:
    """Cephes cosf and sinf for x in [0, 2 pi), with fused arithmetic, as two rows. Overwrites `x`."""
    octant = (x * FOUR_OVER_PI).astype(np.int32)
    octant += 1
    octant &= ~1
    y = octant.astype(np.float32)
    x += y * QUARTER_PI[0]  # this product and the next are exact, the third is not
    x += y * QUARTER_PI[1]
    _multiply_add(y, QUARTER_PI[2], x)
    # Row 0 works out 1 - z/2 + z*z*p(z), row 1 works out x + x*z*q(z), with z = x*x.
    square = y * y
    factor = square.astype(np.float64)
    both: np.ndarray = (factor * COS_SIN[0] + COS_SIN[1]).astype(np.float32)
    _multiply_add(both, factor, COS_SIN[2])
    both *= square
    _multiply_add(both, np.stack((factor, y)), np.stack((square * _f32(-0.5), y)))
    both[0] += _f32(1)
    # Every other pair of octants swaps the two; exchange the bits under a mask, then set the signs.
    cos, sin = both.view(np.int32)
    swap = cos ^ sin
    swap &= (octant << 30) >> 31
    cos ^= swap
    sin ^= swap
    sin ^= (octant & 4) << 29
    octant += 2  # the cosine is negative in octants 2 to 5
    cos ^= (octant & 4) << 29
    return both


def box_muller32(unit: np.ndarray, mean: float, std: float, exact: bool) -> np.ndarray:
    """Normal float32 from uniform ones, sixteen by sixteen: eight radii, then eight angles. In place.

    If `exact`, every number has PyTorch's bits. If not, the fused arithmetic is left out and the sines
    are NumPy's, in less than half the time: 95 numbers of 100 have PyTorch's bits, and of the others
    all but a few in a million are within 2 ulp (those are within 3).
    """
    rows = unit.view(_EIGHT).reshape(-1, 2)  # whole groups of eight move faster than numbers
    radius = rows[:, 0].copy().view(np.float32)
    np.subtract(_f32(1), radius, out=radius)
    _log(radius, exact)
    radius *= _f32(-2)
    np.sqrt(radius, out=radius)
    angle = rows[:, 1].copy().view(np.float32)
    angle *= _f32(2 * math.pi)
    for row, part in enumerate(_cos_sin(angle) if exact else (np.cos(angle), np.sin(angle))):
        part *= radius
        rows[:, row] = fma32(part, _f32(std), _f32(mean)).view(_EIGHT)
    return unit


def box_muller64(unit: np.ndarray, mean: float, std: float) -> np.ndarray:
    """The same in float64, where PyTorch calls the C library and NumPy agrees to one ulp. In place."""
    rows = unit.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * np.log(1.0 - rows[:, 0]))
    angle = rows[:, 1] * (2.0 * math.pi)
    rows[:, 0] = fma64(radius * np.cos(angle), std, mean)
    rows[:, 1] = fma64(radius * np.sin(angle), std, mean)
    return unit


def box_muller_pairs(unit: np.ndarray) -> np.ndarray:
    """Standard normals from consecutive pairs of uniform float64: PyTorch's one-by-one sampler.

    Few values go through the C library, whose results are PyTorch's own to the last bit.
    """
    normals = np.empty_like(unit)
    if unit.size <= 64:
        values = unit.tolist()
        for i in range(0, len(values), 2):
            radius = math.sqrt(-2.0 * math.log1p(-values[i + 1]))
            angle = 2.0 * math.pi * values[i]
            normals[i] = radius * math.cos(angle)
            normals[i + 1] = radius * math.sin(angle)
        return normals
    radius = np.sqrt(-2.0 * np.log1p(-unit[1::2]))
    angle = unit[0::2] * (2.0 * math.pi)
    np.multiply(radius, np.cos(angle), out=normals[0::2])
    np.multiply(radius, np.sin(angle), out=normals[1::2])
    return normals

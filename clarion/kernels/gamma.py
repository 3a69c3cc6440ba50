"""Gamma, Dirichlet and binomial draws as PyTorch draws them on the CPU (see random.py).

How many words a number takes depends on the words: like Poisson's, these draws go element by element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from .mt19937 import Generator
from .random import cast, digits, unsupported

# The constants of Marsaglia and Tsang (2000), rounded to float32 as PyTorch has them.
_THIRD = float(np.float32(1) / np.float32(3))
_SQUEEZE = float(np.float32(0.0331))


def _normals(gen: Generator, unit: Iterator[float]) -> Callable[[], float]:
    """Standard normals one by one; they come in pairs, and the generator remembers the second."""

    def normal() -> float:
        kept = gen.next_double
        if kept is not None:
            gen.next_double = None
            return kept
        angle = 2.0 * math.pi * next(unit)
        radius = math.sqrt(-2.0 * math.log1p(-next(unit)))
        gen.next_double = radius * math.sin(angle)
        return radius * math.cos(angle)

    return normal


def _one_gamma(alpha: float, inverse: float, d: float, unit: Iterator[float], normal: Callable[[], float]) -> float:
    """Marsaglia and Tsang's rejection; below 1 a draw for alpha + 1, scaled down."""
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        scale = (1.0 - next(unit)) ** inverse
    if not d > 0.0:
        return math.nan
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0.0:
            continue
        v = y * y * y
        u = 1.0 - next(unit)
        xx = x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _gammas(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """One draw in float64 for each concentration (float32 or float64), in C order."""
    flat = alpha.reshape(-1)
    one = flat.dtype.type(1)
    third = flat.dtype.type(_THIRD)
    boosted = np.where(flat < one, flat + one, flat) - third
    with np.errstate(divide="ignore"):
        inverse = one / flat
    unit = gen.unit_doubles()
    normal = _normals(gen, unit)
    each = zip(flat.tolist(), inverse.tolist(), boosted.tolist(), strict=True)
    return np.array([_one_gamma(a, i, d, unit, normal) for a, i, d in each], np.float64).reshape(alpha.shape)


def _checked(name: str, alpha: np.ndarray) -> np.ndarray:
    if not digits(alpha.dtype):
        raise unsupported(name, alpha.dtype)
    return alpha.astype(np.float32) if alpha.dtype.itemsize == 2 else alpha


def standard_gamma(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """One gamma number of rate 1 for each concentration."""
    wide = _checked("gamma", alpha)
    drawn = cast(_gammas(gen, wide), alpha.dtype)
    return np.maximum(drawn, np.finfo(wide.dtype).tiny).astype(alpha.dtype) if drawn.size else drawn


def sample_dirichlet(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """A point of the simplex for each row of concentrations, kept off 0 and 1."""
    wide = _checked("dirichlet", alpha)
    gammas = _gammas(gen, wide.astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = cast(gammas / gammas.sum(-1, keepdims=True), wide.dtype)
    last = np.nextafter(wide.dtype.type(1), wide.dtype.type(0))
    # (`fmax`: where all numbers of a row were too small to be told from 0, none of them is NaN.)
    return cast(np.fmin(np.fmax(shares, np.finfo(wide.dtype).tiny), last), alpha.dtype)


# Binomial ---------------------------------------------------------------------------------------------


def binomial(gen: Generator, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """How many of `count` trials of chance `prob` succeed; both of one floating type and shape."""
    if not digits(count.dtype):
        raise unsupported("binomial_cpu", count.dtype)
    unit = gen.unit_doubles()
    pairs = zip(
        count.astype(np.float64).reshape(-1).tolist(), prob.astype(np.float64).reshape(-1).tolist(), strict=True
    )
    drawn = np.array([_one_binomial(n, p, unit) for n, p in pairs], np.float64)
    return cast(drawn, count.dtype).reshape(count.shape)


def _one_binomial(count: float, prob: float, unit: Iterator[float]) -> float:
    if count <= 0.0 or prob <= 0.0:
        return 0.0
    if prob >= 1.0:
        return count
    if prob != prob:
        return math.nan
    rare = min(prob, 1.0 - prob)
    found = (_by_rejection if count * rare >= 10.0 else _by_gaps)(count, rare, unit)
    return found if prob <= 0.5 else count - found


def _by_gaps(count: float, prob: float, unit: Iterator[float]) -> float:
    """Jump from success to success by geometric gaps."""
    failure = math.log1p(-prob)
    tried, found = 0.0, 0
    while True:
        u = next(unit)
        tried += math.ceil(math.log(u) / failure) if u > 0.0 else math.inf
        if tried > count:
            return float(found)
        found += 1


def _tail(k: float) -> float:
    """What Stirling's formula leaves out of log(k!)."""
    if k < 10:
        return math.lgamma(k + 1) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(k + 1) - (k + 1))
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _by_rejection(count: float, prob: float, unit: Iterator[float]) -> float:
    """Hoermann's transformed rejection (1993), with the constants of its usual implementation."""
    std = math.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * std
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    c = count * prob + 0.5
    v_r = 0.92 - 4.2 / b
    odds = prob / (1 - prob)
    alpha = (2.83 + 5.1 / b) * std
    m = math.floor((count + 1) * prob)
    while True:
        u = next(unit) - 0.5
        v = next(unit)
        us = 0.5 - abs(u)
        if us == 0:
            continue
        k = math.floor((2 * a / us + b) * u + c)
        if k < 0 or k > count:
            continue
        if us >= 0.07 and v <= v_r:
            return float(k)
        bound = (
            (m + 0.5) * math.log((m + 1) / (odds * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _tail(m) + _tail(count - m) - _tail(k) - _tail(count - k)
        )  # fmt: skip
        if v == 0 or math.log(v * alpha / (a / (us * us) + b)) <= bound:
            return float(k)

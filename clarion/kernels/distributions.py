"""The less common distributions, drawn as PyTorch draws them on the CPU (see random.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from .boxmuller import fma64
from .layout import empty_like
from .mt19937 import Generator, unit_float64
from .random import Shape, cast, digits, from_doubles, normals_one_by_one, torch_names, unsupported, write


def _continuous(kind: str, dtype: np.dtype, name: str) -> None:
    if not digits(dtype):
        raise RuntimeError(
            f"{kind} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {name}"
        )


def log_normal(
    gen: Generator, shape: Shape, dtype: DTypeLike = np.float32, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    dtype = np.dtype(dtype)
    if not std > 0.0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    out = np.empty(shape, dtype)
    if not digits(dtype) and out.size:
        raise unsupported("log_normal_cpu", dtype)
    if out.size:
        out.reshape(-1)[:] = cast(np.exp(fma64(normals_one_by_one(gen, out.size), std, mean)), dtype)
    return out


def exponential(gen: Generator, shape: Shape, dtype: DTypeLike = np.float32, rate: float = 1.0) -> np.ndarray:
    dtype = np.dtype(dtype)
    if not rate > 0.0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if np.prod(shape):
        _continuous("Exponential", dtype, torch_names(dtype)[0])
    return from_doubles(gen, shape, dtype, lambda u: -1.0 / rate * np.log1p(-u))


def geometric(gen: Generator, shape: Shape, p: float, dtype: DTypeLike = np.float32) -> np.ndarray:
    """How many trials of chance p until the first success."""
    dtype = np.dtype(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    if dtype.kind not in "iu" and not digits(dtype) and np.prod(shape):
        raise unsupported("geometric_cpu", dtype)
    failure = math.log1p(-p)
    with np.errstate(divide="ignore", invalid="ignore"):  # log(0) at u = 0 is PyTorch's infinity too
        return from_doubles(gen, shape, dtype, lambda u: np.ceil(np.log(u) / failure))


def cauchy(
    gen: Generator, shape: Shape, dtype: DTypeLike = np.float32, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    dtype = np.dtype(dtype)
    if not sigma > 0.0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _continuous("Cauchy", dtype, torch_names(dtype)[1])
    return from_doubles(gen, shape, dtype, lambda u: fma64(np.tan(math.pi * (u - 0.5)), sigma, median))


# -- multinomial --------------------------------------------------------------------------------------


def multinomial(gen: Generator, weights: np.ndarray, n: int, replacement: bool = False) -> np.ndarray:
    """`n` indices for each row of `weights` (one row or several), as int64."""
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not digits(weights.dtype):
        name = torch_names(weights.dtype)[0]
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {name}")
    if n <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and n > weights.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if weights.shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    shape = (*weights.shape[:-1], n)
    if weights.ndim == 2 and not weights.shape[0]:
        return np.empty(shape, np.int64)
    wide: np.ndarray = weights.astype(np.float64 if weights.dtype == np.float64 else np.float32, copy=False)
    if wide.size and not (wide.min() >= 0 and wide.max() < np.inf):  # nor a NaN
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not wide.sum(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement and n > 1:
        rows = wide.reshape(-1, wide.shape[-1])
        return np.stack([_by_search(gen, row, n) for row in rows]).reshape(shape)
    return _by_race(gen, weights, n)


def _by_search(gen: Generator, row: np.ndarray, n: int) -> np.ndarray:
    """With replacement: look uniform numbers up in the running sum, added one by one as PyTorch does."""
    total = np.add.accumulate(row)
    total /= total[-1]
    total[-1] = 1
    return np.searchsorted(total.astype(np.float64), unit_float64(gen.words(2 * n)), side="left")


def _by_race(gen: Generator, weights: np.ndarray, n: int) -> np.ndarray:
    """Without replacement: exponential clocks run at the speed of the weights, the first n to ring win."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        speed = weights / write(empty_like(weights), exponential(gen, weights.shape, weights.dtype))
    order: np.ndarray
    if n == 1:
        order = np.argmax(speed, axis=-1, keepdims=True)
    else:
        order = np.argsort(-speed, axis=-1, kind="stable")[..., :n].copy()
    return order


# -- Poisson ------------------------------------------------------------------------------------------


def poisson(gen: Generator, rates: np.ndarray) -> np.ndarray:
    """One count per rate, in the rates' dtype.

    The one draw with a loop over elements: how many words a count takes depends on the words.
    """
    if not digits(rates.dtype):
        raise unsupported("poisson_cpu", rates.dtype)
    values = rates.astype(np.float64).reshape(-1)
    if not np.all(values >= 0):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    unit = gen.unit_doubles()
    counts = [_poisson_large(x, unit) if x >= 10 else _poisson_small(x, unit) for x in values.tolist()]
    return cast(np.array(counts, np.float64), rates.dtype).reshape(rates.shape)


def _poisson_small(rate: float, unit: Iterator[float]) -> int:
    """Multiply uniform numbers until the product falls below exp(-rate)."""
    if rate == 0:
        return 0
    limit = math.exp(-rate)
    count, product = 0, next(unit)
    while product > limit:
        count += 1
        product *= next(unit)
    return count


def _poisson_large(rate: float, unit: Iterator[float]) -> int:
    """Hoermann's transformed rejection (1993), with the constants of its usual implementation."""
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inv_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = next(unit) - 0.5
        v = next(unit)
        us = 0.5 - abs(u)
        if us == 0:
            continue  # u = -1/2 exactly: PyTorch's k is then out of range and rejected
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        accept = math.log(inv_alpha / (a / (us * us) + b)) + (math.log(v) if v else -math.inf)
        if accept <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k

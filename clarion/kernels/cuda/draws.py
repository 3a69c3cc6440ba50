"""Random draws on the GPU, number for number as PyTorch draws them on CUDA (philox.py has the generator).

Each is a transformation of uniform or normal numbers, or of bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cupy
import numpy as np
from ml_dtypes import bfloat16

from ...errors import EngineError
from .. import mt19937
from ..registry import offer
from . import philox

_HALF = (np.dtype(np.float16), np.dtype(bfloat16))
_FLOATS = (np.dtype(np.float32), np.dtype(np.float64), *_HALF)
# The bits of a float's mantissa, which are what a random integer of it can have.
_DIGITS = {np.dtype(np.float64): 53, np.dtype(np.float32): 24, np.dtype(np.float16): 11, np.dtype(bfloat16): 8}
_MANY = 1 << 28  # from so many integers on, 64 bits are drawn for each


def chosen(gen: Any) -> philox.Generator:
    """The GPU's generator that is meant; the host's default one stands for none."""
    if gen is mt19937.default_generator:
        return philox.default_generator
    if not isinstance(gen, philox.Generator):
        raise EngineError("Expected a 'cuda' device type for generator but found 'cpu'")
    return gen


def drawn(gen: philox.Generator, what: str, shape: tuple[int, ...], dtype: Any, low: float, high: float) -> Any:
    """What `Kind.draw` gives; None for what is not drawn here."""
    if what == "integers":
        return integers(shape, dtype, int(low), int(high), gen)
    if what == "ticket":
        return gen.draw("bits", shape, np.uint64).view(np.int64)
    if what == "permutation":
        return permutation(shape[0], dtype, gen)
    if dtype not in _FLOATS:
        return None
    if what == "bernoulli":
        unit = gen.draw("unit", shape, _wide(dtype))
        return (unit < unit.dtype.type(low)).astype(dtype)
    return gen.draw(what, shape, dtype, low, high) if what in philox.NAMES else None


class _Like:
    """What a draw asks of an array: how many numbers of which type."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype


def _in_order_of_memory(draw: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch draws in the order in which an array lies, whatever that of its dimensions is."""

    def call(x: Any, *rest: Any) -> Any:
        if x._c_contiguous:
            return draw(x, *rest)
        order = sorted(range(x.ndim), key=lambda d: -x.strides[d])
        back = sorted(range(x.ndim), key=order.__getitem__)
        return draw(_Like(tuple([x.shape[d] for d in order]), x.dtype), *rest).transpose(back)

    return call


def _floating(x: Any, *_: Any) -> bool:
    return x.dtype in _FLOATS


def _flat_floating(x: Any, *_: Any) -> bool:
    return x.dtype in _FLOATS and x._c_contiguous


def _wide(dtype: Any) -> Any:
    return np.dtype(np.float64) if dtype.itemsize == 8 else np.dtype(np.float32)


def _unit(x: Any, gen: Any) -> Any:
    """Uniform numbers in (0, 1], in the type that is computed in."""
    return chosen(gen).draw("unit", x.shape, _wide(x.dtype))


@offer("uniform", "cuda draws", accepts=_floating)
@_in_order_of_memory
def uniform(x: Any, low: float, high: float, gen: Any) -> Any:
    """In [low, high)."""
    return chosen(gen).draw("uniform", x.shape, x.dtype, low, high)


@offer("normal", "cuda draws", accepts=_floating)
@_in_order_of_memory
def normal(x: Any, mean: float, std: float, gen: Any) -> Any:
    """Of one mean and one standard deviation."""
    return chosen(gen).draw("normal", x.shape, x.dtype, mean, std)


def _shifted(drawn: Any, std: Any, mean: Any) -> Any:
    """drawn * std + mean; product and sum are each rounded to the type of the draw."""
    kind, wide = drawn.dtype, _wide(drawn.dtype)
    product = (drawn.astype(wide) * (std if isinstance(std, float) else std.astype(wide))).astype(kind)
    return (product.astype(wide) + (mean if isinstance(mean, float) else mean.astype(wide))).astype(kind)


@offer("normal_mean", "cuda draws", accepts=_flat_floating)
def normal_mean(mean: Any, std: float, gen: Any) -> Any:
    """Around each mean."""
    return _shifted(chosen(gen).draw("normal", mean.shape, mean.dtype, 0.0, std), 1.0, mean)


@offer("normal_std", "cuda draws", accepts=_flat_floating)
def normal_std(std: Any, mean: float, gen: Any) -> Any:
    """Of each standard deviation."""
    return _shifted(chosen(gen).draw("normal", std.shape, std.dtype), std, mean)


@offer("normal_both", "cuda draws", accepts=lambda mean, std, gen: _flat_floating(mean) and _flat_floating(std))
def normal_both(mean: Any, std: Any, gen: Any) -> Any:
    """Around each mean, of each standard deviation."""
    shape = np.broadcast_shapes(mean.shape, std.shape)
    return _shifted(chosen(gen).draw("normal", shape, mean.dtype), std, mean)


def integers(shape: tuple[int, ...], dtype: Any, low: int | None, high: int | None, gen: Any) -> Any:
    """Integers in [low, high); without bounds all that the type has (of floats: those it can count to)."""
    kind = np.dtype(dtype)
    if low is None and high is None:
        words, base = kind in (np.dtype(np.int64), np.dtype(np.float64)), 0
        span = 2 if kind.kind == "b" else 2 ** _DIGITS[kind] + 1 if kind in _DIGITS else int(np.iinfo(kind).max) + 1
    else:
        base = low or 0
        top = high if high is not None else 2 ** _DIGITS[kind] + 1 if kind in _DIGITS else int(np.iinfo(kind).max) + 1
        span = top - base
        words = span >= _MANY
    bits = chosen(gen).draw("bits", shape, np.uint64 if words else np.uint32)
    if span < (2**64 if words else 2**32):
        bits = bits % bits.dtype.type(span)
    return (bits.astype(np.int64) + base).astype(kind)


def permutation(n: int, dtype: Any, gen: philox.Generator) -> Any:
    """The numbers below n, sorted by random keys of as many bits as leave few alike; those are shuffled once more."""
    if n == 0:
        return cupy.ndarray((0,), dtype)
    bits = min(64, math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9)))))
    kind = np.dtype(np.int32 if bits <= 32 else np.int64)
    keys = integers((n,), kind, int(np.iinfo(kind).min), int(np.iinfo(kind).max), gen)
    if bits < 8 * kind.itemsize:
        keys &= kind.type((1 << bits) - 1)
    order = cupy.argsort(keys, kind="stable")
    gen.shuffle_islands(keys[order], order)
    return order.astype(dtype, copy=False)


def _countable(x: Any, *_: Any) -> bool:
    return x.dtype.kind in "iub" or x.dtype in _FLOATS


for _name in ("random", "random_to", "random_range"):
    offer(
        _name,
        "cuda draws",
        _in_order_of_memory(lambda x, low, high, gen: integers(x.shape, x.dtype, low, high, gen)),
        accepts=_countable,
    )


@offer("bernoulli_float", "cuda draws", accepts=_countable)
@_in_order_of_memory
def bernoulli_float(x: Any, p: float, gen: Any) -> Any:
    """1 with probability p, else 0."""
    unit = _unit(x, gen) if x.dtype in _FLOATS else chosen(gen).draw("unit", x.shape, np.float32)
    return (unit < unit.dtype.type(p)).astype(x.dtype)


@offer("bernoulli", "cuda draws", accepts=_flat_floating)
def bernoulli(p: Any, gen: Any) -> Any:
    """1 with the probability that each element says."""
    return (chosen(gen).draw("unit", p.shape, np.float32, for_each=True) <= p.astype(np.float32)).astype(p.dtype)


@offer("exponential", "cuda draws", accepts=_floating)
@_in_order_of_memory
def exponential(x: Any, rate: float, gen: Any) -> Any:
    """Of a rate. (A logarithm that would be 0 is half a step below.)"""
    unit = _unit(x, gen)
    half = float(np.finfo(unit.dtype).eps) / 2
    logs = cupy.where(unit >= unit.dtype.type(1 - half), unit.dtype.type(-half), cupy.log(unit))
    return (unit.dtype.type(-1.0 / rate) * logs).astype(x.dtype)


@offer("multinomial", "cuda draws", accepts=_flat_floating)
def weighted_choice(weights: Any, count: int, gen: Any) -> Any:
    """Who comes first of exponential clocks, which run as fast as the weights say."""
    scores = weights.astype(_wide(weights.dtype)) / exponential(weights, 1.0, gen).astype(_wide(weights.dtype))
    if count == 1:
        return scores.argmax(-1)[..., None]
    return cupy.argsort(-scores, axis=-1)[..., :count].copy()


@offer("cauchy", "cuda draws", accepts=_floating)
@_in_order_of_memory
def cauchy(x: Any, median: float, sigma: float, gen: Any) -> Any:
    """Around a median. (The ends of the interval, where the tangent is infinite, are left out.)"""
    unit = _unit(x, gen)
    step = float(np.finfo(unit.dtype).eps)
    unit = cupy.clip(unit, step, 1 - step)
    kind = unit.dtype.type
    return (kind(median) + kind(sigma) * cupy.tan(kind(math.pi) * (unit - kind(0.5)))).astype(x.dtype)


@offer("log_normal", "cuda draws", accepts=_floating)
@_in_order_of_memory
def log_normal(x: Any, mean: float, std: float, gen: Any) -> Any:
    """Numbers whose logarithms are normal."""
    return cupy.exp(chosen(gen).draw("normal", x.shape, _wide(x.dtype), mean, std)).astype(x.dtype)


@offer("geometric", "cuda draws", accepts=_countable)
@_in_order_of_memory
def geometric(x: Any, p: float, gen: Any) -> Any:
    """Trials until the first success."""
    unit = _unit(x, gen) if x.dtype in _FLOATS else chosen(gen).draw("unit", x.shape, np.float32)
    return cupy.ceil(cupy.log(unit) / unit.dtype.type(math.log1p(-p))).astype(x.dtype)

"""Random draws in the shape and type of an array, and the zeros that are their gradient.

The numbers are PyTorch's (see ../random.py); `gen` is a raw generator. A draw for memory in another order
than C's is filled along that memory, as PyTorch does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import distributions, random
from ...everywhere import from_host, on_host
from ...layout import alike, channels_last, dense_order, host_like
from ...registry import kernel


@kernel("zeros_like")
def zeros_like(xp: Any, x: Any) -> Any:
    return xp.zeros(x.shape, x.dtype)


def fill(array: Any, values: Any) -> Any:
    """`values`, in the order drawn, arranged as PyTorch fills memory laid out like `array`."""
    if array.flags.c_contiguous:
        return alike(values, array) if channels_last(array) else values
    return random.write(host_like(array), values)


def _placed(xp: Any, x: Any, values: Any) -> Any:
    """The same where the array is."""
    if xp is np and x.ndim < 4 and x.flags.c_contiguous:
        return values
    return from_host(xp, fill(x, values))


@kernel("uniform")
def uniform(xp: Any, x: Any, low: float, high: float, gen: Any) -> Any:
    return _placed(xp, x, random.uniform(gen, x.shape, x.dtype, low, high))


@kernel("normal")
def normal(xp: Any, x: Any, mean: float, std: float, gen: Any) -> Any:
    return _placed(xp, x, random.normal(gen, x.shape, x.dtype, mean, std, x.flags.c_contiguous))


@kernel("normal_mean")
def normal_mean(xp: Any, mean: Any, std: float, gen: Any) -> Any:
    return _shifted(xp, random.normal(gen, mean.shape, mean.dtype, 0.0, std), 1, mean)


@kernel("normal_std")
def normal_std(xp: Any, std: Any, mean: float, gen: Any) -> Any:
    _check_std(std)
    return _shifted(xp, random.normal(gen, std.shape, std.dtype), std, mean)


@kernel("normal_both")
def normal_both(xp: Any, mean: Any, std: Any, gen: Any) -> Any:
    _check_std(std)
    return _shifted(xp, random.normal(gen, xp.broadcast_shapes(mean.shape, std.shape), mean.dtype), std, mean)


def _shifted(xp: Any, drawn: Any, std: Any, mean: Any) -> Any:
    """drawn * std + mean; product and sum are each rounded to the type of the draw."""
    kind, drawn = drawn.dtype, from_host(xp, drawn)
    if kind.itemsize == 2:
        drawn, std, mean = (xp.asarray(value, xp.float32) for value in (drawn, std, mean))
    product = xp.asarray(drawn * std).astype(kind)
    return xp.asarray(product.astype(drawn.dtype) + mean).astype(kind)


def _check_std(std: Any) -> None:
    if std.dtype.kind == "c":
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if std.size and not (std >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


@kernel("random")
@kernel("random_to")
@kernel("random_range")
def integers(xp: Any, x: Any, low: int | None, high: int | None, gen: Any) -> Any:
    return _placed(xp, x, random.random(gen, x.shape, x.dtype, low, high))


@kernel("bernoulli")
def bernoulli(xp: Any, p: Any, gen: Any) -> Any:
    return random.bernoulli_each(gen, p) if xp is np else from_host(xp, random.bernoulli_each(gen, on_host(p)))


@kernel("bernoulli_tensor")
def bernoulli_tensor(xp: Any, x: Any, p: Any, gen: Any) -> Any:
    p = on_host(xp.broadcast_to(p, x.shape))
    if x.flags.c_contiguous:
        return from_host(xp, random.bernoulli_each(gen, p, x.dtype))
    order = dense_order(x)  # along the memory of x
    return from_host(xp, random.bernoulli_each(gen, p.transpose(order), x.dtype).transpose(np.argsort(order)))


@kernel("bernoulli_float")
def bernoulli_float(xp: Any, x: Any, p: float, gen: Any) -> Any:
    return _placed(xp, x, random.bernoulli(gen, x.shape, p, x.dtype))


@kernel("exponential")
def exponential(xp: Any, x: Any, rate: float, gen: Any) -> Any:
    return _placed(xp, x, distributions.exponential(gen, x.shape, x.dtype, rate))


@kernel("geometric")
def geometric(xp: Any, x: Any, p: float, gen: Any) -> Any:
    return _placed(xp, x, distributions.geometric(gen, x.shape, p, x.dtype))


@kernel("cauchy")
def cauchy(xp: Any, x: Any, median: float, sigma: float, gen: Any) -> Any:
    return _placed(xp, x, distributions.cauchy(gen, x.shape, x.dtype, median, sigma))


@kernel("log_normal")
def log_normal(xp: Any, x: Any, mean: float, std: float, gen: Any) -> Any:
    return _placed(xp, x, distributions.log_normal(gen, x.shape, x.dtype, mean, std))


@kernel("multinomial")
def weighted_choice(xp: Any, weights: Any, count: int, gen: Any) -> Any:
    """Indices drawn with the weights of each row, without putting back."""
    return from_host(xp, distributions.multinomial(gen, on_host(weights), count, False))


@kernel("poisson")
def poisson(xp: Any, rates: Any, gen: Any) -> Any:
    return from_host(xp, distributions.poisson(gen, on_host(rates)))


@kernel("weights_drawn")
def weights_drawn(xp: Any, weights: Any, count: int, replacement: bool, gen: Any) -> Any:
    """Indices drawn with the weights of each row."""
    rows = weights if weights.ndim < 3 else weights.reshape(-1, weights.shape[-1])
    drawn = distributions.multinomial(gen, on_host(rows), count, replacement)
    return from_host(xp, drawn).reshape(*weights.shape[:-1], count)

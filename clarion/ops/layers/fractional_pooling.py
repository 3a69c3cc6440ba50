"""Fractional max pooling: windows of one size at random distances, so that the output has any size."""

from __future__ import annotations

import math
from typing import Any

from ...core.devices import xp_of
from ...core.dtypes import i64
from ...core.namespace import OPS
from ...core.tensor import Tensor, new_tensor
from ...errors import ArgumentValueError, EngineError, ShapeError
from ..faces.api import FUNCTIONS, functional
from ..faces.autocast import autocast


def _starts(xp: Any, samples: Any, size: int, out: int, window: int) -> Any:
    """Where the windows begin along one dimension, one row per plane."""
    starts = xp.empty((samples.size, out), i64)
    if out > 1:
        step = (size - window) / samples.dtype.type(out - 1)
        shift = samples.reshape(-1, 1)
        steps = xp.arange(out - 1, dtype=samples.dtype)
        starts[:, :-1] = ((steps + shift) * step).astype(i64) - (shift * step).astype(i64)
    starts[:, -1:] = size - window
    return starts


def _places(array: Any, windows: tuple[int, ...], outs: tuple[int, ...], samples: Any) -> Any:
    """Places of the largest element of every window, counted within its plane."""
    n = len(windows)
    sizes = array.shape[-n:]
    count = math.prod(array.shape[:-n])
    if not count:
        return xp_of(array).zeros((*array.shape[:-n], *outs), i64)
    planes = array.reshape(count, math.prod(sizes))
    samples = samples.reshape(-1, n)[:count]  # more may have been given than there are planes
    # PyTorch's samples stand in the order width, height for two dimensions, and depth, height, width for three.
    order = (1, 0) if n == 2 else (0, 1, 2)
    xp = xp_of(array)
    flat = xp.zeros((count,) + (1,) * (2 * n), i64)
    for d in range(n):
        starts = _starts(xp, samples[:, order[d]], sizes[d], outs[d], windows[d])
        along = starts[:, :, None] + xp.arange(windows[d])
        shape = [count] + [1] * (2 * n)
        shape[1 + d], shape[1 + n + d] = outs[d], windows[d]
        flat = flat * sizes[d] + along.reshape(shape)
    flat = flat.reshape(count, math.prod(outs), math.prod(windows))
    values = xp.take_along_axis(planes[:, None, :], flat, axis=2)
    best = values.argmax(axis=2)
    return xp.take_along_axis(flat, best[:, :, None], axis=2)[:, :, 0].reshape(*array.shape[:-n], *outs)


def _each(name: str, what: str, value: Any, n: int) -> tuple[int, ...]:
    """One number per dimension."""
    each = (value,) * n if isinstance(value, int) else tuple(value)
    if len(each) != n:
        raise EngineError(f"{name}: {what} must either be a single Int or tuple of {'three ' if n == 3 else ''}Ints")
    return each


def _refuse_samples(n: int, array: Any, given: tuple[int, ...]) -> None:
    """The random numbers that come with a call: one set for each plane at least."""
    batch = 1 if array.ndim == n + 1 else array.shape[0]
    if len(given) != 3:
        raise EngineError(f"Expect _random_samples to have 3 dimensions, got {len(given)}")
    if given[0] < batch:
        raise EngineError("Expect _random_samples.size(0) no less then input batch size.")
    if given[1] != array.shape[-n - 1]:
        raise EngineError("Expect _random_samples.size(1) equals to input channel size.")
    if given[2] != n:
        raise EngineError(f"Expect _random_samples.size(2) equals to {n}; got {given[2]}.")


def _pool(n: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any) -> tuple[Any, Any]:
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ArgumentValueError(f"{name} requires specifying either an output_size or an output_ratio")
    array = input._array
    if array.ndim not in (n + 1, n + 2):
        raise EngineError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got: {list(array.shape)}")
    if 0 in array.shape[-n - 1 :]:
        empty = array.ndim - n - 1 + array.shape[-n - 1 :].index(0)
        raise ShapeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got{list(array.shape)} with "
            f"dimension {empty} being empty."
        )
    sizes = array.shape[-n:]
    windows = _each(name, "kernel_size", kernel_size, n)
    if output_size is None:
        ratios = (output_ratio,) * n if isinstance(output_ratio, float) else tuple(output_ratio)
        if len(ratios) != n:
            raise ArgumentValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        outs = tuple(int(size * ratio) for size, ratio in zip(sizes, ratios, strict=True))
    else:
        outs = _each(name, "output_size", output_size, n)
    told = "_out" if n == 3 else ""
    for word, size, out, window in zip(("time", "height", "width")[-n:], sizes, outs, windows, strict=True):
        if out + window - 1 > size:
            raise EngineError(f"{name}{told}(): pool {word} {window} too large relative to input {word} {size}")
    if samples is None:
        batch = 1 if array.ndim == n + 1 else array.shape[0]
        samples = FUNCTIONS["rand"](batch, array.shape[-n - 1], n, dtype=input.dtype, device=input.device)
    else:
        _refuse_samples(n, array, samples._array.shape)
    places = new_tensor(_places(array, windows, outs, samples._array))
    flat = OPS["view"].call(FUNCTIONS["reshape"](input, array.shape), (*array.shape[:-n], math.prod(sizes)))
    found = FUNCTIONS["gather"](flat, -1, new_tensor(places._array.reshape(*array.shape[:-n], math.prod(outs))))
    return FUNCTIONS["reshape"](found, places._array.shape), places


def _register(n: int) -> None:
    def with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        return _pool(n, input, kernel_size, output_size, output_ratio, _random_samples)

    @autocast("float32")
    def pooled(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        result = _pool(n, input, kernel_size, output_size, output_ratio, _random_samples)
        return result if return_indices else result[0]

    pooled.__doc__ = f"Max pooling in {n} dimensions over windows at random distances."
    with_indices.__doc__ = f"{pooled.__doc__[:-1]}, and where the largest elements were."
    functional(f"fractional_max_pool{n}d")(pooled)
    functional(f"fractional_max_pool{n}d_with_indices")(with_indices)


for _n in (2, 3):
    _register(_n)

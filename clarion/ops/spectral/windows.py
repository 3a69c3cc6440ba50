"""Windows for spectral analysis: Hann, Hamming, Blackman, Bartlett, Kaiser; step by step as PyTorch computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.dtypes import get_default_dtype
from ...core.tensor import Tensor
from ...errors import DtypeError, ShapeError
from ..creation.factories import ones, take_options
from ..creation.spaced import arange
from ..faces.api import FUNCTIONS, public
from ..faces.options import integer


def _window(
    name: str, length: Any, periodic: bool, shape: Callable[[Any, int], Any], options: dict[str, Any]
) -> Tensor:
    """The window of this length: `shape` is given 0, 1, … n - 1 and n. A periodic one is longer by one, which is cut off."""
    length = integer(name, "window_length", 1, length)
    kind, requires_grad, _, where = take_options(name, {**options})
    if kind.kind in "iub":
        raise DtypeError(f"{name} expects floating point dtypes, got: {options['dtype']}")
    if length < 0:
        raise ShapeError(f"{name} requires non-negative window_length, got window_length={length}")
    with modes.no_grad():
        if length < 2:
            window = ones(length, dtype=options.get("dtype"), device=where.device())
        else:
            n = length + bool(periodic)
            window = shape(arange(n, dtype=options.get("dtype") or get_default_dtype(), device=where.device()), n)
            window = window[:length].clone() if periodic else window
    return window._requiring() if requires_grad else window  # type: ignore[no-any-return, attr-defined]


def _raised_cosine(alpha: float, beta: float) -> Callable[[Any, int], Any]:
    return lambda k, n: k.mul_(math.pi * 2 / (n - 1)).cos_().mul_(-beta).add_(alpha)


@public(method=False)
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """One period of a raised cosine. Options: dtype, layout, device, pin_memory, requires_grad."""
    return _window("hann_window", window_length, periodic, _raised_cosine(0.5, 0.5), options)


@public(method=False)
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos: a raised cosine that does not reach zero."""
    return _window("hamming_window", window_length, periodic, _raised_cosine(alpha, beta), options)


@public(method=False)
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A sum of two cosines."""

    def shape(k: Any, n: int) -> Any:
        k = k.mul_(math.pi / (n - 1))
        return k.mul(4).cos_().mul_(0.08) - k.mul(2).cos_().mul_(0.5) + 0.42

    return _window("blackman_window", window_length, periodic, shape, options)


@public(method=False)
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle."""

    def shape(k: Any, n: int) -> Any:
        k = k.mul_(2 / (n - 1))
        k[((n - 1) >> 1) + 1 :].mul_(-1).add_(2)
        return k

    return _window("bartlett_window", window_length, periodic, shape, options)


@public(method=False)
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Bessel functions of a half circle; `beta` says how steep it falls off."""

    def shape(k: Any, n: int) -> Any:
        middle, i0 = (n - 1) / 2, FUNCTIONS["i0"]
        wide = k if k.element_size() > 2 else k.float()  # half precision is computed in single, and rounded once
        root = (1 - ((wide - middle) / middle).square()).sqrt()
        return (i0(root * beta) / i0(root.new_full((), beta))).to(k.dtype)

    return _window("kaiser_window", window_length, periodic, shape, options)

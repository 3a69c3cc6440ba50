"""`torch.signal.windows`: windows for spectral analysis and filter design.

All take `M` (the number of points), `sym` (symmetric; False: one period), and a factory's options: dtype, layout, device,
requires_grad.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..core.dtypes import float32, float64, get_default_dtype, strided
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops.faces.api import FUNCTIONS

__path__: list[str] = []  # PyTorch has modules below it (see elsewhere.py)

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _checked(name: str, M: int, options: dict[str, Any]) -> dict[str, Any]:
    """The options with their dtype."""
    if M < 0:
        raise ArgumentValueError(f"{name} requires non-negative window length, got M={M}")
    if options.get("layout") not in (None, strided):
        raise ArgumentValueError(f"{name} is implemented for strided tensors only, got: {options['layout']}")
    dtype = options.get("dtype") or get_default_dtype()
    if dtype not in (float32, float64):
        raise ArgumentValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return {**options, "dtype": dtype}


def _points(M: int, start: Any, end: Any, options: dict[str, Any]) -> Any:
    return FUNCTIONS["linspace"](start=start, end=end, steps=M, **options)


def _filled(M: int, options: dict[str, Any]) -> Any:
    """The windows of no point and of one."""
    return FUNCTIONS["ones"]((M,), **options)


def exponential(M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """exp(-|n - center| / tau)."""
    options = _checked("exponential", M, options)
    if tau <= 0:
        raise ArgumentValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ArgumentValueError("Center must be None for symmetric windows")
    if M == 0:
        return _filled(M, options)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    scale = 1 / tau
    return (-_points(M, -center * scale, (-center + (M - 1)) * scale, options).abs()).exp()


def cosine(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Half a wave of the sine."""
    options = _checked("cosine", M, options)
    if M == 0:
        return _filled(M, options)
    step = math.pi / (M + 1 if not sym and M > 1 else M)
    return _points(M, 0.5 * step, (0.5 + (M - 1)) * step, options).sin()


def gaussian(M: int, *, std: float = 1.0, sym: bool = True, **options: Any) -> Tensor:
    """exp(-(n / std)² / 2) around the middle."""
    options = _checked("gaussian", M, options)
    if std <= 0:
        raise ArgumentValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return _filled(M, options)
    start, scale = -(M if not sym and M > 1 else M - 1) / 2.0, 1 / (std * math.sqrt(2))
    return (-(_points(M, start * scale, (start + (M - 1)) * scale, options) ** 2)).exp()


def kaiser(M: int, *, beta: float = 12.0, sym: bool = True, **options: Any) -> Tensor:
    """Bessel functions of a half circle; `beta` says how steep it falls off."""
    options = _checked("kaiser", M, options)
    if beta < 0:
        raise ArgumentValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _filled(M, options)
    i0 = FUNCTIONS["i0"]
    top = FUNCTIONS["tensor"](
        beta, dtype=options["dtype"]
    )  # rounded, so that the root below is never of a negative number
    end = FUNCTIONS["minimum"](top, -top + (M - 1) * (2.0 * top / (M if not sym else M - 1)))
    return i0((top * top - _points(M, -top, end, options) ** 2).sqrt()) / i0(top)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A triangle."""
    options = _checked("bartlett", M, options)
    if M < 2:
        return _filled(M, options)
    step = 2 / (M if not sym else M - 1)
    return 1 - _points(M, -1, -1 + (M - 1) * step, options).abs()


def general_cosine(M: int, *, a: Iterable[float], sym: bool = True, **options: Any) -> Tensor:
    """a[0] - a[1] cos x + a[2] cos 2x - …"""
    options = _checked("general_cosine", M, options)
    if M < 2:
        return _filled(M, options)
    if not isinstance(a, Iterable):
        raise ArgumentTypeError("Coefficients must be a list/tuple")
    if not a:
        raise ArgumentValueError("Coefficients cannot be empty")
    k = _points(M, 0, (M - 1) * (2 * math.pi / (M if not sym else M - 1)), options)
    grown = {"dtype": options["dtype"], "requires_grad": options.get("requires_grad", False)}
    signed = FUNCTIONS["tensor"]([(-1) ** i * w for i, w in enumerate(a)], **grown)
    order = FUNCTIONS["arange"](len(signed), **grown)
    return (signed.unsqueeze(-1) * (order.unsqueeze(-1) * k).cos()).sum(0)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """alpha - (1 - alpha) cos x."""
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A raised cosine that does not reach zero."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A raised cosine."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A sum of two cosines."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **_checked("blackman", M, options))


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A sum of three cosines, with low side lobes."""
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)

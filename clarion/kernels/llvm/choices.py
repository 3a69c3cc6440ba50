"""Limits, masks and powers: kernels whose parameters are numbers that the portable kernels look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..choosing import HEAT, Kernel
from ..portable.elementwise.arithmetic import pow_scalar
from ..registry import offer
from .kernel import Compiled, InRows

_FLOATS = "fd"


def _traced(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def trace(args: Any) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args)

    return trace


def _clamp(xp: Any, x: Any, low: Any, high: Any) -> Any:
    return xp.clip(x, low, high)


def _filled(xp: Any, x: Any, mask: Any, value: Any) -> Any:
    return xp.where(mask, xp.asarray(value, x.dtype), x)


def _spreads(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Does an array of this shape broadcast to a whole one?"""
    missing = len(whole) - len(shape)
    return missing >= 0 and all(n in (1, m) for n, m in zip(shape, whole[missing:], strict=True))


def _masked_fill(compiled: Compiled) -> Kernel:
    def run(x: Any, mask: Any, value: Any, *, out: Any = None) -> Any:
        if x.dtype.char not in _FLOATS or getattr(value, "ndim", 0):
            return NotImplemented
        if out is not None and (
            mask.shape != x.shape or 0 in out.strides
        ):  # (expanded: what is not written must not be put back)
            return NotImplemented
        if mask.shape != x.shape and not _spreads(mask.shape, x.shape):
            return NotImplemented
        if type(value) is np.ndarray and value.dtype.char not in _FLOATS:
            return NotImplemented
        return compiled(x, mask, value, out=out)

    return run


def _power(compiled: Compiled) -> Kernel:
    """The exponent is part of what is compiled: of whole ones products are made."""

    def run(x: Any, y: Any) -> Any:
        exponent = y.item() if isinstance(y, (np.ndarray, np.generic)) else y
        return compiled(x, exponent) if type(exponent) in (int, float) else NotImplemented

    return run


def make(least: int) -> None:
    """Make all offers."""
    limits = Compiled("clamp", _traced(_clamp))
    limits.heat = HEAT
    offer("clamp", "llvm", limits, writes=True, least=least)
    for name in ("masked_fill", "masked_fill_tensor"):
        offer(name, "llvm", _masked_fill(InRows(name, _traced(_filled))), writes=True, least=least)
    offer("pow_scalar", "llvm", _power(Compiled("pow_scalar", _traced(pow_scalar))), least=least)

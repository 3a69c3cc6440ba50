"""Losses of pairs in one pass, and their sum or mean in another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..choosing import Kernel
from ..registry import offer, portable, raw
from .kernel import Compiled, OneRow

# The losses whose portable kernels are expressions where nothing is reduced, and at which place they are told whether to.
_LOSSES = {
    "smooth_l1_loss": 2, "huber_loss": 2, "binary_cross_entropy": 3, "binary_cross_entropy_with_logits": 4,
    "soft_margin_loss": 2,
}  # fmt: skip


def _traced(name: str, place: int) -> Callable[[Any], Any]:
    def trace(args: Any) -> Any:
        from ..trace import tracer

        def each(xp: Any, *args: Any) -> Any:
            return portable(name, xp)(*args[:place], 0, *args[place:])

        return tracer.trace(each, args)

    return trace


def _loss(name: str, place: int) -> Kernel:
    compiled = Compiled(name, _traced(name, place))

    def run(*args: Any) -> Any:
        reduction, x = args[place], args[0]
        if any(a is not None and (a.shape != x.shape or a.dtype is not x.dtype) for a in args[:place]):
            return NotImplemented
        found = compiled(*args[:place], *args[place + 1 :])
        if found is NotImplemented or not reduction:
            return found
        return raw.mean_all(found) if reduction == 1 else raw.sum_all(found)

    return run


# The squared error, added up as it is computed.
_SQUARES = {
    "mse_loss_mean": lambda xp, x, y: xp.mean((x - y) * (x - y), 1),
    "mse_loss_sum": lambda xp, x, y: xp.sum((x - y) * (x - y), 1),
}


def _traced_rows(function: Callable[..., Any]) -> Callable[[Any], Any]:
    def trace(args: Any) -> Any:
        from ..trace import tracer

        return tracer.trace(function, args, by_rows=True)

    return trace


def _both(x: Any, y: Any) -> Any:
    return (x, y) if x.dtype is y.dtype else None


def make(least: int, rows: int) -> None:
    """Make all offers; `rows`: elements from which sums are compiled."""
    for name, function in _SQUARES.items():
        offer(name, "llvm", OneRow(name, _traced_rows(function), _both, (), rows), least=rows)
    for name, place in _LOSSES.items():
        offer(name, "llvm", _loss(name, place), least=least)

"""Rules that follow the gradient itself, or its sign."""

from __future__ import annotations

from typing import Any

import numpy

from ...flat import kept_number
from ...registry import kernel, raw
from ...updates import update

LARGE = 1 << 14  # elements of a parameter from which a pass of its own is worth the call


@update("sgd")
def sgd(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Gradient descent; "momentum": of a sum of gradients, which begins with the "first", and takes a share of "damped" ones."""
    if "momentum" not in how:
        (lr,) = numbers
        return (p - g * lr,)
    lr, momentum, *share = numbers
    (buffer,) = kept
    buffer = xp.copy(g) if "first" in how else buffer * momentum + (g * share[0] if "damped" in how else g)
    return p - (g + buffer * momentum if "nesterov" in how else buffer) * lr, buffer


@kernel("descend_")
def descend(xp: Any, params: list[Any], grads: list[Any], rate: float) -> None:
    """The plain rule for parameters as they lie in memory, of any type; large ones in one pass."""
    multiply, subtract, kind = xp.multiply, xp.subtract, None
    for p, g in zip(params, grads, strict=True):
        if p.size >= LARGE and p.dtype == g.dtype and p.itemsize > 2 and p.flags.c_contiguous and g.flags.c_contiguous:
            raw.sgd_(p.reshape(-1), g.reshape(-1), (), (rate,), ())
            continue
        if p.dtype is not kind:
            kind = p.dtype
            number = kept_number(rate, kind) if xp is numpy else rate
        subtract(p, multiply(g, number), p)


@update("asgd")
def asgd(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Gradient descent, and the average of where it has been ("averaging", once that has begun)."""
    less, eta, *mu = numbers
    (average,) = kept
    step = g * eta
    p = p * less - step
    return p, average + (p - average) * mu[0] if "averaging" in how else p


@update("rprop")
def rprop(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Steps that grow while the sign of the gradient stays, and shrink when it turns; then the gradient counts as 0."""
    minus, plus, least, most = numbers
    before, size = kept
    turn = xp.sign(g * before)
    # 1 where the sign stays and -1 where it turns: the factor is a sum of which all terms but one are 0.
    up = xp.clip(turn, 0, None)
    down = turn - up
    size = xp.clip(size * (up * plus - (turn * turn - 1) - down * minus), least, most)
    g = xp.where(turn < 0, 0, g)
    return p - xp.sign(g) * size, g, size

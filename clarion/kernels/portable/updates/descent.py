"""Rules that follow the gradient itself, or its sign."""

from __future__ import annotations

from typing import Any

import numpy

from ...flat import kept_number
from ...registry import kernel, raw
from ...updates import update


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


@kernel("descended")
def descended(xp: Any, p: Any, g: Any, rate: Any, *, out: Any = None) -> Any:
    """A parameter after a plain step; the rate is an array without dimensions."""
    return xp.subtract(p, xp.multiply(g, rate), out=out)


@kernel("descend_")
def descend(xp: Any, params: list[Any], grads: list[Any], rate: float) -> None:
    """The plain rule for parameters as they lie in memory, of any type."""
    step, kind = raw.descended, None
    for p, g in zip(params, grads, strict=True):
        if p.dtype is not kind:
            kind = p.dtype
            number = kept_number(rate, kind) if xp is numpy else rate
        step(p, g, number, out=p)


@kernel("descend_rows_")
def descend_rows(xp: Any, p: Any, numbers: Any, values: Any, rate: float) -> None:
    """The same for a table of which few rows were used: those at `numbers`, where one may occur more than once."""
    places, sums = rows_once(xp, numbers, values)
    rows = p[places]
    raw.descend_([rows], [sums], rate)
    p[places] = rows


@kernel("adam_rows_")
def adam_rows(
    xp: Any,
    p: Any,
    mean: Any,
    square: Any,
    numbers: Any,
    values: Any,
    rates: tuple[float, float],
    eps: float,
    size: float,
) -> None:
    """Adam's rule there: the averages of rows that were not used stay, and so do the rows. `rates`: of the averages."""
    places, g = rows_once(xp, numbers, values)
    first, second = mean[places], square[places]
    first = first + (g - first) * rates[0]
    second = second + (g * g - second) * rates[1]
    mean[places], square[places] = first, second
    p[places] = p[places] - first / (xp.sqrt(second) + eps) * size


def rows_once(xp: Any, numbers: Any, values: Any) -> tuple[Any, Any]:
    """Rows at their numbers, in order; those that occur more than once are added up."""
    if numbers.size < 2 or bool((numbers[1:] > numbers[:-1]).all()):
        return numbers, values
    places, group = xp.unique(numbers, return_inverse=True)
    sums = xp.zeros((len(places), *values.shape[1:]), values.dtype)
    raw.add_rows(sums, 0, group.reshape(-1), values)
    return places, sums


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

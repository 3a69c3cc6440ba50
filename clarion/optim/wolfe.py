"""A line search for the strong Wolfe conditions: the loss falls enough, and its slope has flattened enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.devices import HALVES


class Point(NamedTuple):
    """A step length with the loss, gradient and slope there."""

    t: Any
    loss: Any
    grad: Any
    slope: Any


def cubic_minimum(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points with these slopes is least, within bounds."""
    low, high = bounds if bounds is not None else (a.t, b.t) if a.t <= b.t else (b.t, a.t)
    first = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = first**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square**0.5 if type(square) in HALVES else type(square)(math.sqrt(square))
    if a.t > b.t:
        a, b = b, a
    at = b.t - (b.t - a.t) * ((b.slope + root - first) / (b.slope - a.slope + 2 * root))
    return min(max(at, low), high)


def strong_wolfe(
    evaluate: Callable[[Any], tuple[float, Any]],
    t: Any,
    direction: Any,
    loss: float,
    grad: Any,
    slope: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Any, Any, int]:
    """The loss, the gradient, the step length found, and how many evaluations it took."""
    origin = Point(0, loss, grad.copy(), slope)

    def at(t: Any) -> Point:
        loss, grad = evaluate(t)
        return Point(t, loss, grad, grad.dot(direction))

    def too_high(point: Point) -> bool:
        return bool(point.loss > loss + c1 * point.t * slope)

    def flat_enough(point: Point) -> bool:
        return bool(abs(point.slope) <= -c2 * slope)

    # Go further until a minimum lies between the last two points.
    point, before, evaluations, rounds = at(t), origin, 1, 0
    bracket, done = [origin, point], False
    while rounds < max_ls:
        if too_high(point) or (rounds > 1 and point.loss >= before.loss):
            bracket = [before, point]
            break
        if flat_enough(point):
            bracket, done = [point, point], True
            break
        if point.slope >= 0:
            bracket = [before, point]
            break
        limits = (point.t + 0.01 * (point.t - before.t), point.t * 10)
        following = cubic_minimum(before, point, limits)
        before, point = point, at(following)
        evaluations += 1
        rounds += 1
    else:
        bracket = [origin, point]

    # Narrow the bracket down.
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    stuck, widest = False, abs(direction).max()
    while not done and rounds < max_ls:
        left, right = sorted((bracket[0].t, bracket[1].t))
        if (right - left) * widest < tolerance_change:
            break
        t, stuck = _inside(cubic_minimum(bracket[0], bracket[1]), left, right, stuck)
        point = at(t)
        evaluations += 1
        rounds += 1
        if too_high(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        if flat_enough(point):
            done = True
        elif point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
    best = bracket[low]
    return best.loss, best.grad, best.t, evaluations


def _inside(t: Any, left: Any, right: Any, stuck: bool) -> tuple[Any, bool]:
    """Keep a point away from the ends of the bracket when it has been near one before."""
    margin = 0.1 * (right - left)
    if not min(right - t, t - left) < margin:
        return t, False
    if stuck or t >= right or t <= left:
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
    return t, True

"""Rules that scale the gradient by the size of earlier ones."""

from __future__ import annotations

from typing import Any

from ...updates import toward, update


def squares(square: Any, beta: Any, g: Any, rest: Any) -> Any:
    """The moving average of squared gradients."""
    return square * beta + g * rest * g


@update("adagrad")
def adagrad(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Steps that shrink with the sum of squared gradients."""
    eps, rate = numbers
    (total,) = kept
    total = total + g * g
    root = xp.sqrt(total) + eps
    return p + g * rate / root, total


@update("adadelta")
def adadelta(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Steps in the unit of the parameter, from averages of squared gradients and squared steps."""
    rho, rest, eps, lr = numbers
    square, steps = kept
    square = squares(square, rho, g, rest)
    step = xp.sqrt((steps + eps) / (square + eps)) * g
    return p - step * lr, square, squares(steps, rho, step, rest)


@update("rmsprop")
def rmsprop(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Gradients over the root of their mean square; "centered": over their deviation; "momentum": added up."""
    alpha, rest, eps, lr, *momentum = numbers
    square, *more = kept
    new = [squares(square, alpha, g, rest)]
    spread = new[0]
    if "centered" in how:
        average = toward(more[-1], g, rest, how)
        spread = spread - average * average
        new.append(average)
    root = xp.sqrt(spread) + eps
    if "momentum" not in how:
        return p - g * lr / root, *new
    buffer = more[0] * momentum[0] + g / root
    new.insert(1, buffer)
    return p - buffer * lr, *new


@update("adam")
def adam(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """The average gradient over the root of the average square; "amsgrad": of the largest average there has been."""
    rest1, beta2, rest2, eps, rate = numbers
    average, square, *largest = kept
    average = toward(average, g, rest1, how)
    square = squares(square, beta2, g, rest2)
    if "amsgrad" not in how:
        return p + average * rate / (xp.sqrt(square) + eps), average, square
    most = xp.maximum(largest[0], square)
    return p + average * rate / (xp.sqrt(most) + eps), average, square, most


@update("nadam")
def nadam(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Adam with Nesterov's momentum."""
    rest1, beta2, rest2, eps, now, ahead = numbers
    average, square = kept
    average = toward(average, g, rest1, how)
    square = squares(square, beta2, g, rest2)
    return p + (g * now + average * ahead) / (xp.sqrt(square) + eps), average, square


@update("radam")
def radam(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Adam; "plain": while the average of squares is young, nothing is divided by its root."""
    rest1, beta2, rest2, rate, *eps = numbers
    average, square = kept
    average = toward(average, g, rest1, how)
    square = squares(square, beta2, g, rest2)
    step = average * rate
    return p + (step if "plain" in how else step / (xp.sqrt(square) + eps[0])), average, square


@update("adamax")
def adamax(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> Any:
    """Adam with the largest gradient in place of the average of squares."""
    rest1, beta2, eps, rate = numbers
    average, largest = kept
    average = toward(average, g, rest1, how)
    largest = xp.maximum(largest * beta2, xp.abs(g) + eps)
    return p + average * rate / largest, average, largest

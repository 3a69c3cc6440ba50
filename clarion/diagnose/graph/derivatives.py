"""Is the backward of a custom Function the derivative of its forward? Asked of finite differences in float64.

Some Functions are meant to differ: straight-through estimators (forward is flat, backward is not) and gradient reversal,
clipping or scaling (forward is the identity). They are surrogates, and no mistakes.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import engine
from ..engine import Tensor
from ..signals import of_the_program

RIGHT, WRONG, SURROGATE, UNKNOWN = "right", "wrong", "surrogate", "unknown"
_STEP = 1e-6
_TOLERANCE = 0.01
_ELEMENTS = 48  # that are looked at one by one, if the whole is wrong


class Verdict(NamedTuple):
    """`position`: of the argument whose gradient is wrong; `given` and `expected`: along one random direction."""

    kind: str
    position: int = -1
    given: float = 0.0
    expected: float = 0.0


class Probe:
    """A custom Function, and the arguments of one of its calls."""

    def __init__(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments = [_kept(a) for a in arguments]
        self._checked = [
            i for i, a in enumerate(arguments) if engine.is_tensor(a) and engine.requires_grad(a) and _is_real(a)
        ]
        self._rng = np.random.default_rng(0)
        self._state = engine.random_state()

    def verdict(self) -> Verdict:
        """Of the given point and some around it: wrong, if it is wrong at two of them."""
        wrong: list[Verdict] = []
        right = 0
        with engine.undisturbed(), _quiet():
            for spread in (0.0, 0.1, 1e-3, 0.1, 1e-2):
                try:
                    found = self._at(self._point(spread))
                except Exception as error:  # it does not run in float64, or not there
                    if of_the_program(error):
                        raise
                    found = Verdict(UNKNOWN)
                if found.kind == SURROGATE:
                    return found
                right += found.kind == RIGHT
                wrong += [found] if found.kind == WRONG else []
                if len(wrong) == 2 or right == 2:
                    break
        return wrong[0] if len(wrong) == 2 else Verdict(RIGHT if right else UNKNOWN)

    # One point -----------------------------------------------------------------------------------

    def _point(self, spread: float) -> list[Any]:
        """The arguments, moved a little."""
        values = list(self._arguments)
        for i in self._checked:
            x = values[i]
            move = spread * (_size(x) or 1.0) * self._rng.standard_normal(x.shape)
            values[i] = np.asarray(x + move)  # (what NumPy makes of a single number is no array)
        return values

    def _run(self, values: list[Any]) -> tuple[list[Any], Any]:
        """The differentiable outputs, and what gives the gradients of the arguments for given gradients of these."""
        outputs, gradients = engine.custom_call(self._function, values, self._checked, self._state)
        return outputs, gradients

    def _at(self, values: list[Any]) -> Verdict:
        arrays, gradients_of = self._run(values)
        again, _ = self._run(values)
        if not arrays or not all(np.isfinite(a).all() for a in arrays):
            return Verdict(UNKNOWN)
        if not all(np.array_equal(a, b) for a, b in zip(arrays, again, strict=True)):
            return Verdict(UNKNOWN)  # its forward is random
        if any(_same(a, values[i]) for a in arrays for i in self._checked):
            return Verdict(SURROGATE)
        weights = [self._rng.standard_normal(a.shape) for a in arrays]
        gradients = gradients_of(weights)
        small = 1e-7 * (1.0 + sum(float(np.abs(w * a).sum()) for w, a in zip(weights, arrays, strict=True)))
        wrong = Verdict(RIGHT)
        for i in self._checked:
            given = gradients[i]
            if given is None:  # left out on purpose, says the author
                continue
            direction = self._rng.standard_normal(values[i].shape)
            expected = self._difference(values, i, direction, weights, small)
            if expected is None:
                return Verdict(UNKNOWN)
            parts = given * direction
            total, scale = float(parts.sum()), float(np.sqrt(np.square(parts).sum()))
            if abs(expected) <= small < scale:
                return Verdict(SURROGATE)  # forward is flat, backward is not: straight through
            if abs(total - expected) > _TOLERANCE * max(abs(expected), scale) + small:
                if self._is_straight_through(values, i, given, weights, small, arrays):
                    return Verdict(SURROGATE)
                wrong = wrong if wrong.kind == WRONG else Verdict(WRONG, i, total, expected)
        return wrong

    def _difference(self, values: list[Any], i: int, direction: Any, weights: list[Any], small: float) -> float | None:
        """The derivative along a direction; None at a kink, or where it cannot be told."""
        found = []
        for step in (_STEP, _STEP / 4):
            h = step * max(1.0, _size(values[i]))
            ends = []
            for sign in (h, -h):
                moved = list(values)
                moved[i] = np.asarray(values[i] + sign * direction)
                outs, _ = self._run(moved)
                ends.append(sum(float((w * o).sum()) for w, o in zip(weights, outs, strict=True)))
            found.append((ends[0] - ends[1]) / (2 * h))
        first, second = found
        if not np.isfinite(first + second) or abs(first - second) > 1e-3 * max(abs(first), abs(second)) + small:
            return None
        return first

    def _is_straight_through(
        self, values: list[Any], i: int, given: Any, weights: list[Any], small: float, outs: list[Any]
    ) -> bool:
        """Is it wrong only where forward is flat, as in a clamp that lets gradients through? (A ReLU that forgot its mask is
        wrong there, too; but what it holds back is zero.)"""
        x = values[i]
        some = self._rng.permutation(x.size)[:_ELEMENTS]
        flat = []
        for j in some:
            direction = np.zeros(x.size)
            direction[j] = 1.0
            expected = self._difference(values, i, direction.reshape(x.shape), weights, small)
            have = float(given.reshape(-1)[j])
            if expected is None or abs(have - expected) <= _TOLERANCE * max(abs(have), abs(expected)) + small:
                continue
            if abs(expected) > small:
                return False
            flat.append(j)
        return bool(flat) and not (outs[0].shape == x.shape and not outs[0].reshape(-1)[flat].any())


def _kept(argument: Any) -> Any:
    """An argument for later calls: real tensors as float64 arrays."""
    if not engine.is_tensor(argument):
        return argument
    array = engine.array(argument)
    return array.astype(np.float64) if _is_real(argument) else array.copy()


def _is_real(tensor: Tensor) -> bool:
    return bool(engine.kind(tensor) == "f")


def _size(x: Any) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0


def _same(out: Any, x: Any) -> bool:
    return out.shape == x.shape and np.array_equal(out, x)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What forward prints or warns of is not said again."""
    with engine.quiet(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield

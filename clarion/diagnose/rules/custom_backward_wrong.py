"""custom-backward-wrong"""

from __future__ import annotations

import inspect
import linecache
import re
from typing import Any

from .. import engine
from ..graph.derivatives import RIGHT, SURROGATE, UNKNOWN, Probe, Verdict
from ..rule import Diagnosis
from ..source.places import here

_TRIES = 3  # calls of a Function that are looked at, if the first ones do not tell
_DEF = r"\s*def\s"


class CustomBackwardWrong(Diagnosis):
    """The `backward` of a custom Function is not the derivative of its `forward`.

    A forgotten factor, a sign, two gradients in the wrong order, a mean that should be a sum, an incoming gradient that is
    not multiplied with: the program runs, the loss may even fall, and the parameters go where they should not.

    Broken:

        def backward(ctx, grad_output):         # of x * x
            (x,) = ctx.saved_tensors
            return grad_output * x

    Fixed:

        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x

    Only with `clarion run --thorough`: at its first call a Function is run again in float64, on its arguments and at points
    around them, and compared with finite differences along random directions. Kinks are stepped around. Straight-through
    estimators (forward is flat), and Functions that only change gradients (forward is the identity: reversal, scaling,
    clipping) are meant to differ, and silent.
    """

    name = "custom-backward-wrong"
    thorough = True
    why = "every gradient that passes through this Function is wrong, and nothing fails."

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._left: dict[Any, int] = {}  # tries left, per Function

    def on_customised(self, function: Any, arguments: tuple[Any, ...], output: Any) -> None:
        """A Function was called: compare, the first time."""
        left = self._left.get(function, _TRIES)
        if left == 0:
            return
        self._left[function] = left - 1
        verdict = Probe(function, arguments).verdict()
        if verdict.kind == UNKNOWN:
            return
        self._left[function] = 0
        if verdict.kind not in (RIGHT, SURROGATE):
            self._say(function, verdict)

    def _say(self, function: Any, verdict: Verdict) -> None:
        given, expected = verdict.given, verdict.expected
        ratio = f" ({given / expected:.3g} times as much)" if expected else ""
        self.report(
            _line_of_backward(function),
            f"`{function.__name__}.backward` gives a wrong gradient for `{_argument(function, verdict.position)}`: along a random "
            f"direction it is {given:.4g}, by finite differences of forward {expected:.4g}{ratio}.",
            fix=f"torch.autograd.gradcheck({function.__name__}.apply, inputs) with float64 inputs, until it passes; multiply by "
            "the incoming gradient, and return one gradient per argument of forward, in its order.",
            also=[here()],
        )


def _argument(function: Any, position: int) -> str:
    """What forward calls its argument."""
    names = list(inspect.signature(function.forward).parameters)
    if function.setup_context is engine.layers().Function.setup_context:
        names = names[1:]  # the first is ctx
    return names[position] if position < len(names) else f"argument {position + 1}"


def _line_of_backward(function: Any) -> tuple[str, int] | None:
    """The line of `def backward`, below its decorators."""
    rule = function.vjp if function.backward is engine.layers().Function.backward else function.backward
    code = getattr(inspect.unwrap(rule), "__code__", None)
    if code is None:
        return None
    for line in range(code.co_firstlineno, code.co_firstlineno + 50):
        if re.match(_DEF, linecache.getline(code.co_filename, line)):
            return code.co_filename, line
    return code.co_filename, code.co_firstlineno

"""Updates: rules that give the new values of a parameter and its state from the old ones.

    @update("adagrad")
    def adagrad(xp, p, g, kept, numbers, how):
        ...
        return p, total

A rule is an expression over `xp` and operators, and so has several executors. `xp` may be a namespace of Tensors, and the
step is recorded (`differentiable=True`); or of symbols, and the rule is compiled. In an ordinary step `name_` computes it in
place: `raw.adagrad_(p, g, kept, numbers, how)` on flat arrays of one real type.

    p, g      parameter and gradient
    kept      a tuple: the state that has the parameter's shape
    numbers   a tuple of Python numbers, different in each step
    how       a tuple of words, the same in all steps of a training but for the first: which form of the rule.
              All rules share "maximize", "decay" (the gradient gets a share of the parameter) and "shrink" (the
              parameter is multiplied by a number); the numbers of the latter two come first.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .registry import kernel, raw

Rule = Callable[..., Any]

RULES: dict[str, Rule] = {}


class InOnePass:
    """From how many elements on `update_all` is one pass over all parameters, for arrays of the host."""

    least: int = sys.maxsize


class Lasting(list[Any]):
    """Lists of arrays that come again at every step: what `update_all` has made ready for them lives as long as they do."""

    def __init__(self, lists: list[Any]) -> None:
        super().__init__(lists)
        self.ready: dict[Any, Any] = {}


def update(name: str) -> Callable[[Rule], Rule]:
    """Register a rule as the kernels `name`, which returns new values, and `name_`, which overwrites the old ones."""

    def register(rule: Rule) -> Rule:
        @functools.wraps(rule)
        def whole(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> tuple[Any, ...]:
            p, g, numbers = decayed(p, g, numbers, how)
            return tuple(rule(xp, p, g, kept, numbers, how))

        def overwrite(xp: Any, p: Any, g: Any, kept: Any, numbers: Any, how: tuple[str, ...]) -> None:
            for old, new in zip((p, *kept), whole(xp, p, g, kept, numbers, how), strict=True):
                old[...] = new

        RULES[name] = whole
        kernel(name)(whole)
        kernel(f"{name}_")(overwrite)
        return rule

    return register


@kernel("update_all")
def update_all(xp: Any, params: Any, grads: Any, kept: Any, rule: str, numbers: Any, how: tuple[str, ...]) -> Any:
    """One rule for many parameters: lists of parameters, of gradients, and of each kind of state.

    A device that reads the numbers from its own memory returns where they lie, for `set_numbers`.
    """
    overwrite = getattr(raw, f"{rule}_")
    for p, g, *state in zip(params, grads, *kept, strict=True):
        overwrite(p, g, tuple(state), numbers, how)


@kernel("set_numbers")
def set_numbers(xp: Any, place: Any, numbers: Any) -> None:
    """Write the numbers of the next step where a captured step will read them."""
    place[...] = xp.asarray(numbers, place.dtype)


def decayed(p: Any, g: Any, numbers: Any, how: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Parameter and gradient after weight decay, and the numbers that are left."""
    if "shrink" in how:
        less, *numbers = numbers
        p = p * less
    if "decay" in how:
        weight, *numbers = numbers
        share = p * weight
        return p, (share - g if "maximize" in how else share + g), numbers
    return p, (-g if "maximize" in how else g), numbers


def toward(start: Any, end: Any, weight: Any, how: tuple[str, ...]) -> Any:
    """The point between two at `weight` of the way; "far": beyond the middle, where it is counted from the end."""
    if "far" in how:
        return end - (end - start) * (1 - weight)
    return start + (end - start) * weight

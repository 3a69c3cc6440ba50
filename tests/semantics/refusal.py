"""A program that must be refused, and the table of them: `refusals.py` and `refusals_custom.py` fill it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Refusal(NamedTuple):
    """A program, and how it must fail."""

    name: str
    program: Callable[[Any], Any]
    error: type[Exception]
    phrase: str


REFUSALS: list[Refusal] = []


def refused(
    phrase: str, error: type[Exception] = RuntimeError
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a program that must fail with `error` and a text that contains `phrase`."""

    def register(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
        REFUSALS.append(Refusal(program.__name__, program, error, phrase))
        return program

    return register


def leaf(t: Any, *values: float) -> Any:
    """A leaf that requires a gradient."""
    return t.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)

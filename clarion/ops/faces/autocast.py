"""Which functions mixed precision casts, and to what: said where they are written, by `@autocast(policy)`.

    lower     products: computed in the lower precision
    float32   losses, decompositions, what loses too much: computed in float32
    widest    all arguments in the widest type among them
    plain     computed as it comes, though it is written with functions that are cast

The policies are PyTorch's for the CPU. How they are carried out stands in amp/standins.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_POLICIES = ("lower", "float32", "widest", "plain")


class Cast(NamedTuple):
    """A function that is cast; `when`, called with its arguments, says whether this call is."""

    function: Any
    policy: str
    when: Callable[..., bool] | None


CASTS: list[Cast] = []


def autocast(policy: str, when: Callable[..., bool] | None = None) -> Callable[[F], F]:
    """Declare what mixed precision does with a function. It stands next to the function, below `@public`."""
    if policy not in _POLICIES:
        raise ValueError(f"autocast policies are {', '.join(_POLICIES)}, not {policy!r}")

    def declare(function: F) -> F:
        CASTS.append(Cast(function, policy, when))
        return function

    return declare

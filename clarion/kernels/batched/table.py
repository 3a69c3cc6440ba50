"""The table of rules: how kernels run on all samples at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RULES: dict[str, Callable[..., Any]] = {}


def rule(*names: str) -> Any:
    """Register a rule for kernels: `function(*arrays, *parameters)`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def words(text: str) -> list[str]:
    """Names, written as text."""
    return text.split()

"""Switches of libraries: they are kept, and most of them change nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..errors import ArgumentTypeError


def no(*args: Any, **kwargs: Any) -> bool:
    """Is it there? No."""
    return False


class Precision:
    """How exactly a kind of operation computes on a GPU: kept, and always exact here."""

    fp32_precision = "none"


def switches(module: str, **inside: Any) -> tuple[Callable[..., Any], Callable[..., AbstractContextManager[None]]]:
    """(set_flags, flags) of a module whose variables are switches; `inside` is what `flags()` sets where nothing is said."""

    def set_flags(*values: Any, **named: Any) -> tuple[Any, ...]:
        """Set the switches that are not None; returns what they were."""
        own = vars(sys.modules[module])
        before = tuple(own[name] for name in inside)
        chosen = {name.removeprefix("_"): value for name, value in named.items()} | dict(
            zip(inside, values, strict=False)
        )
        for name, value in chosen.items():
            if name not in inside:
                raise ArgumentTypeError(f"set_flags() got an unexpected keyword argument '{name}'")
            if value is not None:
                setattr(sys.modules[module], name, value)
        return before

    @contextmanager
    def flags(*values: Any, **named: Any) -> Iterator[None]:
        """The switches inside of a block."""
        before = set_flags(**{**inside, **dict(zip(inside, values, strict=False)), **named})
        try:
            yield
        finally:
            set_flags(*before)

    return set_flags, flags

"""`torch._functorch.utils`: small helpers of the transforms."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..func.levels import Argnums as argnums_t  # noqa: F401


@contextlib.contextmanager
def enable_single_level_autograd_function() -> Iterator[None]:
    """Nothing: Functions run the same way at every level."""
    yield


def exposed_in(module: str) -> Callable[[Any], Any]:
    """A decorator that says where a function is to be found."""

    def mark(function: Any) -> Any:
        function.__module__ = module
        return function

    return mark


def unwrap_dead_wrappers(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as they are."""
    return args

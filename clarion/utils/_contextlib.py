"""`torch.utils._contextlib`: contexts that are decorators, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.modes import _Mode as _DecoratorContextManager

__all__ = ["_DecoratorContextManager", "context_decorator"]


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, run inside of a context: `ctx` is one, or makes one for each call."""
    make = ctx if callable(ctx) and not hasattr(ctx, "__enter__") else lambda: ctx

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return run

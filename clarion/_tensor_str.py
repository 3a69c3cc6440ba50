"""`torch._tensor_str`: how tensors are printed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .core.printing import OPTIONS as PRINT_OPTS
from .core.printing import add_suffixes as _add_suffixes  # noqa: F401
from .core.printing import format_array
from .core.printing import set_printoptions as set_printoptions

__all__ = ["PRINT_OPTS", "set_printoptions"]


def _tensor_str(self: Any, indent: int) -> str:
    """The numbers of a tensor as text, lines after the first indented."""
    return format_array(self._array, indent)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with these options inside of the block."""
    before = dict(vars(PRINT_OPTS))
    set_printoptions(**options)
    try:
        yield
    finally:
        vars(PRINT_OPTS).update(before)


def _str_intern(inp: Any, *, tensor_contents: Any = None) -> str:
    return repr(inp)


def _str(self: Any, *, tensor_contents: Any = None) -> str:
    return repr(self)

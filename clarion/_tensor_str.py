"""`torch._tensor_str`: how tensors are printed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .core.printing import OPTIONS as PRINT_OPTS
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


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """What stands after the numbers, in as many lines as it needs."""
    text, length = tensor_str, len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or length + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text, length, force_newline = f"{text},\n{' ' * indent}{suffix}", indent + len(suffix), False
        else:
            text, length = f"{text}, {suffix}", length + len(suffix) + 2
    return text + ")"


def _str_intern(inp: Any, *, tensor_contents: Any = None) -> str:
    return repr(inp)


def _str(self: Any, *, tensor_contents: Any = None) -> str:
    return repr(self)

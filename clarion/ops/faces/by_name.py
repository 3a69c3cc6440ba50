"""Public functions by their public names: here pickle finds those that no module has under the name they were made with."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from .api import FUNCTIONS, NN_FUNCTIONAL


class _Functional:
    """Those of `torch.nn.functional`, some of which have a namesake in `torch`."""

    def __getattr__(self, name: str) -> Any:
        return _member(NN_FUNCTIONAL, name)


functional = _Functional()


def __getattr__(name: str) -> Any:
    return _member(FUNCTIONS, name)


def _member(table: dict[str, Any], name: str) -> Any:
    try:
        return table[name]
    except KeyError:
        raise AttributeError(name) from None


def give_homes(members: dict[str, Any], module: str, prefix: str = "") -> None:
    """Let functions name a module in which they are found."""
    for name, function in members.items():
        if type(function) is FunctionType and name[0] != "_":
            if getattr(sys.modules.get(function.__module__), function.__qualname__, None) is not function:
                function.__module__, function.__qualname__ = module, prefix + name


def register() -> None:
    """All operations are there: give their functions homes."""
    give_homes(FUNCTIONS, __name__)
    give_homes(NN_FUNCTIONAL, __name__, "functional.")

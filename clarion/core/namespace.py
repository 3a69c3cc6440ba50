"""The table of operations, and how gradient rules reach it in the world of Tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .op import Op

OPS: dict[str, Op] = {}


class Lifted:
    """What a rule sees as `ops` in the world of Tensors: every operation, by name."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in OPS:
            raise AttributeError(f"no operation {name!r}")
        setattr(self, name, OPS[name].call)
        return OPS[name].call


lifted = Lifted()

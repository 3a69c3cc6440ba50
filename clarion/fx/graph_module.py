"""`torch.fx.graph_module`: the module that a traced program becomes; none does."""

from __future__ import annotations

from typing import Any

from ..absent import refusal, rest
from ..nn.modules.module import Module

_refuse = refusal("torch.fx.GraphModule")


class GraphModule(Module):
    """A Module, because libraries derive classes of theirs from it; there are no objects of it."""

    is_absent = True

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refused."""
        return _refuse()


__getattr__ = rest(__name__)

"""`torch.fx._pytree`: nested arguments taken apart as a recorded structure says."""

from __future__ import annotations

from typing import Any

from .. import pytree as _pytree
from ..absent import rest


def tree_flatten_spec(pytree: Any, spec: Any) -> list[Any]:
    """The leaves of nested containers that have this structure."""
    return list(spec.flatten_up_to(pytree)) if hasattr(spec, "flatten_up_to") else _pytree.tree_leaves(pytree)


__getattr__ = rest(__name__)

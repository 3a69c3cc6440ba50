"""`torch.fx._pytree`: nested arguments taken apart as a recorded structure says, also if they are traced values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..absent import rest

_FLATTEN: dict[Any, Callable[[Any, Any], list[Any]]] = {}


def register_pytree_flatten_spec(cls: Any, flatten_fn_spec: Any, flatten_fn_exact_match_spec: Any = None) -> None:
    """How an object of this class is taken apart: `flatten_fn_spec(object, structure)` gives the parts."""
    _FLATTEN[cls] = flatten_fn_spec


def _parts(tree: Any, spec: Any) -> list[Any]:
    if spec.type in _FLATTEN:
        return list(_FLATTEN[spec.type](tree, spec))
    if issubclass(spec.type, dict):
        return [tree[key] for key in spec.context]
    return [tree[at] for at in range(len(spec.children_specs))]


def tree_flatten_spec(pytree: Any, spec: Any) -> list[Any]:
    """The leaves of nested containers that have this structure."""
    if spec.is_leaf():
        return [pytree]
    return [
        leaf
        for part, inner in zip(_parts(pytree, spec), spec.children_specs, strict=True)
        for leaf in tree_flatten_spec(part, inner)
    ]


__getattr__ = rest(__name__)

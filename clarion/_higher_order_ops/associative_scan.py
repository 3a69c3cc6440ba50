"""`associative_scan`: what a running sum is to addition, for any associative function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.faces.api import FUNCTIONS
from ..pytree import tree_flatten, tree_unflatten


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """All partial results of combining the slices of `xs` along `dim`, from the first to the last (or from the last)."""
    leaves, spec = tree_flatten(xs)
    order = list(range(leaves[0].shape[dim]))
    if reverse:
        order.reverse()
    results: list[Any] = []
    for position in order:
        slices = tree_unflatten([leaf.narrow(dim, position, 1) for leaf in leaves], spec)
        results.append(combine_fn(results[-1], slices) if results else slices)
    if reverse:
        results.reverse()
    columns = zip(*(tree_flatten(result)[0] for result in results), strict=True)
    return tree_unflatten([FUNCTIONS["cat"](column, dim) for column in columns], spec)

"""Reductions. Parameters `dim` are tuples of dimensions counted from the front, or None for all."""

from __future__ import annotations

from typing import Any

from ..core.op import Op
from ..core.tensor import normalize_dim
from .api import public

sum_op = Op("sum", "x", "dim keepdim", node="SumBackward1")
sum_op.vjp(x=lambda g, x_shape, dim, keepdim, ops: ops.expand(restore_dims(g, x_shape, dim, keepdim, ops), x_shape))


def restore_dims(g: Any, shape: tuple[int, ...], dim: Any, keepdim: bool, ops: Any) -> Any:
    """A reduced gradient with the reduced dimensions back as size 1."""
    if keepdim or not shape:
        return g
    reduced = range(len(shape)) if dim is None else dim
    return ops.view(g, tuple(1 if i in reduced else n for i, n in enumerate(shape)))


@public(out=True)
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:  # noqa: A001
    """The sum of all elements, or along dimensions."""
    dims = None if dim is None else tuple(normalize_dim(d, input.ndim) for d in ((dim,) if isinstance(dim, int) else dim))
    return sum_op.call(input, dims, keepdim)

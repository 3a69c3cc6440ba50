"""Sparse inputs of a function to check: it is their values that are moved, and whose gradients are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..kernels.coo import Coo


def _is_sparse(value: Any) -> bool:
    return isinstance(value, Tensor) and type(value._array) is Coo


def by_values(func: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function of the values of its sparse inputs, with dense outputs; and those values. As it is if none is sparse."""
    if not Coo.met:
        return func, inputs
    sparse = [_is_sparse(x) for x in inputs]
    if not any(sparse):
        return func, inputs

    def of_values(*values: Any) -> Any:
        given = [x.alike(v) if s else v for x, v, s in zip(inputs, values, sparse, strict=True)]
        result = func(*given)
        if isinstance(result, (tuple, list)):
            return tuple(_dense(each) for each in result)
        return _dense(result)

    return of_values, tuple(x._held if s else x for x, s in zip(inputs, sparse, strict=True))


def _dense(value: Any) -> Any:
    return value.to_dense() if _is_sparse(value) else value

"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...errors import ArgumentTypeError
from ...ops.faces.api import FUNCTIONS


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """One vector of all elements (differentiable)."""
    return FUNCTIONS["cat"]([param.reshape(-1) for param in parameters])  # type: ignore[attr-defined]


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make slices of a vector the data of the parameters."""
    if not isinstance(vec, Tensor):
        raise ArgumentTypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for param in parameters:
        count = param.numel()
        param.data = vec[start : start + count].view_as(param).data  # type: ignore[index]
        start += count

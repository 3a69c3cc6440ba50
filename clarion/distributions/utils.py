"""Helpers of distributions: arguments brought to one shape, probabilities and logits, properties computed once."""

from __future__ import annotations

import functools
from numbers import Number
from typing import Any

import clarion

from ..core import modes
from ..core.tensor import Tensor
from ..errors import ArgumentValueError

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """All arguments as tensors of one shape; numbers take the type of the first tensor."""
    if any(hasattr(v, "__torch_function__") and not isinstance(v, Tensor) for v in values):
        return _broadcast_tensor_like(values)
    if not all(isinstance(v, (Tensor, Number)) for v in values):
        raise ArgumentValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    first = next((v for v in values if isinstance(v, Tensor)), None)
    kind = clarion.get_default_dtype() if first is None else first.dtype
    tensors = [v if isinstance(v, Tensor) else clarion.tensor(v, dtype=kind) for v in values]
    return tuple(clarion.broadcast_tensors(*tensors))


def _broadcast_tensor_like(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same where objects that are no tensors behave as some."""
    like = next(v for v in values if hasattr(v, "__torch_function__"))
    alike = [v if hasattr(v, "__torch_function__") else clarion.tensor(v, dtype=like.dtype) for v in values]
    return tuple(clarion.broadcast_tensors(*alike))


def sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """Sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape((*value.shape[:-dim], -1)).sum(-1)


_sum_rightmost = sum_rightmost


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Draws from the standard normal distribution."""
    return clarion.normal(
        clarion.zeros(shape, dtype=dtype, device=device), clarion.ones(shape, dtype=dtype, device=device)
    )


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log odds, or from log weights along the last dimension."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1 by the type's epsilon."""
    eps = clarion.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log odds, or log weights along the last dimension, from probabilities."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


class lazy_property:
    """A property computed at first use (with gradients recorded) and kept in the instance."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with modes.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of each matrix as a vector, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ArgumentValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., _lower(n, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix whose lower triangle is given as a vector, row by row."""
    size = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(size) - size > clarion.finfo(vec.dtype).eps:
        raise ArgumentValueError(
            f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    n = round(size)
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., _lower(n, diag)] = vec
    return mat


def _lower(n: int, diag: int) -> Tensor:
    counter = clarion.arange(n)
    return counter < counter.view(-1, 1) + (diag + 1)


def solve_lower(lower: Tensor, b: Tensor) -> Tensor:
    """X with lower X = b, where only the lower triangle is looked at."""
    return clarion.linalg.solve_triangular(lower, b, upper=False)

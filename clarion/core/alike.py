"""Tensors made after the example of another, on its device; and the values of a tensor brought to the host."""

from __future__ import annotations

from typing import Any

from ..kernels.batched.levels import Mapped
from .devices import kind_of, to_host
from .tensor import Tensor, new_tensor


def zeros(like: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """Zeros of the example's type, in its shape and layout or in another shape."""
    array: Any = like._array
    xp = kind_of(array).xp
    return new_tensor(xp.zeros_like(array) if shape is None else xp.zeros(shape, array.dtype))


def ones(like: Tensor) -> Tensor:
    """Ones of the example's shape and type."""
    return new_tensor(kind_of(like._array).xp.ones_like(like._array))


def placed(array: Any, like: Tensor) -> Tensor:
    """A host array as a tensor that lives where the example does."""
    return new_tensor(kind_of(like._array).receive(array))


def values(tensor: Tensor) -> Any:
    """The values as NumPy's array: the memory itself on the host, a copy from elsewhere."""
    return to_host(tensor._array)


def certainly(found: Any) -> bool:
    """Is a condition known to hold? Inside `vmap`, which has one answer for each sample, it is not."""
    return not isinstance(getattr(found, "_array", found), Mapped) and bool(found)

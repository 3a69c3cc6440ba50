"""Masked tensors from data and a mask."""

from __future__ import annotations

from typing import Any

from .core import MaskedTensor, masked


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A copy of data behind a mask: a leaf."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """Data behind a mask, with the history of the data."""
    return masked(data.clone(), mask.clone())  # type: ignore[no-any-return]

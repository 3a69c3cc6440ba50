"""`torch._C._functorch`: questions about tensors inside transforms. `vmap` calls a function once per sample here, on ordinary tensors."""

from __future__ import annotations

from typing import Any

from ..absent import refusal


def is_batchedtensor(tensor: Any) -> bool:
    """Does it stand for a batch inside `vmap`? None does here."""
    return False


is_legacy_batchedtensor = is_gradtrackingtensor = is_functorch_wrapped_tensor = is_functionaltensor = is_batchedtensor


def get_unwrapped(tensor: Any) -> Any:
    """The tensor behind such a stand-in: itself."""
    return tensor


def maybe_get_level(tensor: Any) -> int:
    """The transform that a stand-in belongs to: none."""
    return -1


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension that is mapped over: none."""
    return -1


def maybe_current_level() -> None:
    """The transform that is running, as PyTorch counts them: none."""


_add_batch_dim = refusal("torch._C._functorch._add_batch_dim")
_remove_batch_dim = refusal("torch._C._functorch._remove_batch_dim")
_vmap_increment_nesting = refusal("torch._C._functorch._vmap_increment_nesting")
_vmap_decrement_nesting = refusal("torch._C._functorch._vmap_decrement_nesting")

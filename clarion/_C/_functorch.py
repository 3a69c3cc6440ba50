"""`torch._C._functorch`: questions about tensors inside `vmap`, where one tensor stands for all samples."""

from __future__ import annotations

import enum
from typing import Any

from ..absent import refusal
from ..core.tensor import Tensor, new_tensor
from ..kernels.batched.array import Batched
from ..kernels.batched.levels import fallback, open_levels


class TransformType(enum.Enum):
    """What PyTorch's transforms are called."""

    Torch = 0
    Vmap = 1
    Grad = 2
    Jvp = 3
    Functionalize = 4


def is_batchedtensor(tensor: Any) -> bool:
    """Does it stand for all samples inside `vmap`?"""
    return isinstance(tensor, Tensor) and type(tensor._array) is Batched


is_functorch_wrapped_tensor = is_batchedtensor


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Is it a stand-in of a gradient's transform? They work on tensors as they are."""
    return False


is_legacy_batchedtensor = is_functionaltensor = is_gradtrackingtensor


def get_unwrapped(tensor: Any) -> Any:
    """The tensor of all samples behind one that stands for them; any other as it is."""
    return new_tensor(tensor._array.data) if is_batchedtensor(tensor) else tensor


def maybe_get_level(tensor: Any) -> int:
    """How deep the `vmap` is that it belongs to; -1: none, or one that has ended."""
    if not is_batchedtensor(tensor) or tensor._array.level not in open_levels.levels:
        return -1
    return open_levels.levels.index(tensor._array.level) + 1


def maybe_get_bdim(tensor: Any) -> int:
    """The dimension that is mapped over: the first one of all samples' tensor."""
    return 0 if is_batchedtensor(tensor) and tensor._array.varies else -1


def maybe_current_level() -> int | None:
    """How many levels of `vmap` are open, if any."""
    return len(open_levels.levels) or None


def peek_interpreter_stack() -> None:
    """The transform that is running, as PyTorch keeps them: none."""


def reshape_dim_into(source: int, target: int, x: Any) -> Any:
    """A dimension made part of another one of those that are left."""
    source %= x.ndim
    target %= x.ndim - 1
    moved = x.movedim(source, target)
    shape = list(x.shape)
    del shape[source]
    shape[target] *= x.shape[source]
    return moved.reshape(shape)


def reshape_dim_outof(source: int, size: int, x: Any) -> Any:
    """A dimension parted into two, the first of them of this size."""
    source %= x.ndim
    shape = list(x.shape)
    shape[source : source + 1] = [size, shape[source] // size if size else 0]
    return x.reshape(shape)


_add_batch_dim = refusal("torch._C._functorch._add_batch_dim")
_remove_batch_dim = refusal("torch._C._functorch._remove_batch_dim")
_vmap_increment_nesting = refusal("torch._C._functorch._vmap_increment_nesting")
_vmap_decrement_nesting = refusal("torch._C._functorch._vmap_decrement_nesting")


def _is_vmap_fallback_enabled() -> bool:
    """May what has no rule for all samples at once be run for one after the other?"""
    return fallback.enabled


def _set_vmap_fallback_enabled(enabled: bool) -> None:
    """Refuse, or do not, what would be run for one sample after the other."""
    fallback.enabled = bool(enabled)

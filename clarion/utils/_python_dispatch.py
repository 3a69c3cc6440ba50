"""`torch.utils._python_dispatch`: interception below autograd, which is not there; questions about it are answered."""

from __future__ import annotations

from typing import Any

from ..absent import refusing_class
from ..core.tensor import Tensor

TorchDispatchMode = refusing_class("torch.utils.TorchDispatchMode")
BaseTorchDispatchMode = refusing_class("torch.utils.BaseTorchDispatchMode")


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Is it a tensor made of others, that says so (`__tensor_flatten__`)?"""
    return isinstance(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Is it a class of such tensors?"""
    return issubclass(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Is a mode active? None can be."""
    return False


def _get_current_dispatch_mode() -> None:
    """The mode that is active: none."""


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All that are active: none."""
    return []


class _disable_current_modes:
    """A block without modes."""

    def __enter__(self) -> list[Any]:
        return []

    def __exit__(self, *_: object) -> None: ...

"""`torch.overrides`: questions about `__torch_function__`, which clarion does not call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from .core.tensor import Tensor
from .errors import NotSupportedError

_WHY = "clarion does not call __torch_function__: write a function of your own, or an autograd.Function"


def is_tensor_like(inp: Any) -> bool:
    """Is it a tensor, or does it claim to behave as one?"""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Will one of the arguments take the call over? None does here."""
    return False


def has_torch_function_unary(value: Any) -> bool:
    """Will it take the call over? It does not here."""
    return False


def has_torch_function_variadic(*values: Any) -> bool:
    """Will one of them take the call over? None does here."""
    return False


def is_tensor_method_or_property(func: Any) -> bool:
    """Is it a method, or the getter of a property, of Tensor?"""
    owned = vars(Tensor).values()
    return func in owned or any(getattr(value, "fget", None) is func for value in owned) or func.__name__ == "__get__"


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> NoReturn:
    """Not there."""
    raise NotSupportedError(f"torch.overrides.handle_torch_function: {_WHY}")


class TorchFunctionMode:
    """Can be named and subclassed; entering one is refused."""

    def __enter__(self) -> NoReturn:
        raise NotSupportedError(f"torch.overrides.TorchFunctionMode: {_WHY}")

    def __exit__(self, *_: object) -> None: ...

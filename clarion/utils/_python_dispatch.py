"""`torch.utils._python_dispatch`: modes that see operations below autograd, each kernel as it runs.

`__torch_dispatch__` is given the operation of ATen that a kernel stands for, and the kernel's own arguments as tensors: inputs
first, then parameters, which are not always in PyTorch's order. Calling the operation with them runs the kernel.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from .._ops import RUNNING, in_atens_order, in_own_order, overload_of
from ..core import below
from ..core.below import Unwatched, Watching, as_arrays, as_tensors
from ..core.dtypes import FROM_NUMPY, channels_last, channels_last_3d, contiguous_format
from ..core.modes import no_grad
from ..core.tensor import Tensor
from ..errors import EngineError


def _memory_format(x: Any, order: str) -> Any:
    return contiguous_format if order == "C" else channels_last if x.ndim == 4 else channels_last_3d


# What ATen takes by name only.
_NAMED = {
    "cast": lambda x, kind: {"dtype": FROM_NUMPY[kind]},
    "clone": lambda x, order: {} if order == "K" else {"memory_format": _memory_format(x, order)},
}


class TorchDispatchMode:
    """While it is entered, its `__torch_dispatch__` is given every operation that runs in this thread, backward passes too."""

    def __init__(self, _dispatch_key: Any = None) -> None:
        self._entered: list[Watching] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A mode defines what it does with an operation."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        if "_entered" not in vars(self):  # of a class that does not call super().__init__()
            self._entered = []
        from .._subclasses import creators  # noqa: F401  (from the first mode on, they look)

        watching = Watching(self._see)
        self._entered.append(watching)
        watching.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(*error)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Does it belong to the machinery, and is nothing that a user entered?"""
        return False

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A new mode, to be entered."""
        return cls(*args, **kwargs)

    def _see(self, name: str, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(getattr(type(self), "__torch_dispatch__"), MethodType):  # noqa: B009
            raise EngineError(
                f"Defining your mode's `__torch_dispatch__` as a classmethod is not supported, please make it a plain method: "
                f"{type(self).__name__}"
            )

        def run(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            args = in_own_order(name, args)
            if name in _NAMED:
                args, kwargs = (args[0], kwargs.get("dtype", shown.get("dtype")).numpy if name == "cast" else kept), {}
            return as_tensors(below.onward(name, kernel, as_arrays(args), as_arrays(kwargs)))

        overload, shown = overload_of(name, args), kwargs
        if name in _NAMED:
            args, kept = args[:1], args[1]
            shown = _NAMED[name](args[0], kept)
        before = RUNNING.overload, RUNNING.run
        RUNNING.overload, RUNNING.run = overload, run
        try:
            with no_grad():
                result = self.__torch_dispatch__(overload, (), as_tensors(in_atens_order(name, args)), shown)
        finally:
            RUNNING.overload, RUNNING.run = before
        return as_arrays(result)


BaseTorchDispatchMode = TorchDispatchMode


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Is it a tensor made of others, that says so (`__tensor_flatten__`)?"""
    return isinstance(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Is it a class of such tensors?"""
    return issubclass(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """What `__torch_dispatch__` gives back: of an operation that writes, the tensor that was written, else the result.

    (A tensor without memory of its own shares none with a view of it: there is nothing more to correct.)
    """
    if "out" in (kwargs or {}):
        return kwargs["out"]
    name = func.__name__.partition(".")[0]
    return args[0] if name.endswith("_") and not name.endswith("__") else out


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Is a mode active in this thread?"""
    active = _get_current_dispatch_mode_stack()
    return any(include_infra_modes or not mode.is_infra_mode() for mode in active)


def _get_current_dispatch_mode() -> Any:
    """The mode that was entered last, or None."""
    active = _get_current_dispatch_mode_stack()
    return active[-1] if active else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All that are active, the innermost last."""
    owners = [getattr(watcher, "__self__", None) for watcher in below.state.watchers]
    return [owner for owner in owners if isinstance(owner, TorchDispatchMode)]


class _disable_current_modes(Unwatched):
    """A block without modes."""

    def __enter__(self) -> Any:
        active = _get_current_dispatch_mode_stack()
        super().__enter__()
        return active

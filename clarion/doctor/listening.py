"""Listening closely: a `TorchFunctionMode` that tells every call of PyTorch's functions as events.

It lies at the bottom of the mode stack (whoever pushes a mode later pops his own). A mode cannot be taken off the stack inside
of its own handler: until it can be, it lets calls through (`Ear.open`).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch._C import TensorBase
from torch.overrides import TorchFunctionMode, _pop_mode, _push_mode

from ..events import hub
from . import engine, home, later, lines, memory
from .hearing import operate
from .nodes import held
from .telling import guarded

_sequence = torch.autograd._get_sequence_nr
_requires_grad = TensorBase.requires_grad.__get__
# Functions that compute nothing.
_SILENT = frozenset(
    [
        "size",
        "dim",
        "ndimension",
        "numel",
        "nelement",
        "stride",
        "storage_offset",
        "is_contiguous",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "is_same_size",
        "is_conj",
        "is_neg",
        "is_inference",
        "is_pinned",
        "is_shared",
        "is_set_to",
        "element_size",
        "data_ptr",
        "get_device",
        "storage",
        "untyped_storage",
        "typed_storage",
        "has_names",
        "names",
        "register_hook",
        "register_post_accumulate_grad_hook",
        "retain_grad",
        "backward",
        "__len__",
        "__repr__",
        "__str__",
        "__format__",
        "__hash__",
        "__contains__",
        "__dir__",
        "__reduce_ex__",
        "__setstate__",
        "__deepcopy__",
        "_set_grad_enabled",
        "is_tensor",
        "is_storage",
        "result_type",
        "can_cast",
        "promote_types",
        "finfo",
        "iinfo",
        "is_grad_enabled",
        "get_default_dtype",
        "__array_priority__",
        "_typed_storage",
        "is_distributed",
        "is_nonzero",
        "__index__",
        "dense_dim",
        "sparse_dim",
        "_is_view",
        "_nested_tensor_size",
        "is_nested",
    ]
)
NUMBERS = {"item": "item", "__float__": "item", "__int__": "item", "__complex__": "item", "tolist": "tolist"}
NUMBERS |= {"numpy": "numpy", "__array__": "numpy"}


class Ear(TorchFunctionMode):
    """Hears every call of one thread, while it is open."""

    open = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        found = _ways.get(func)
        if found is None:
            original = _as_it_was(func)
            found = _ways[func] = _way(original), original
        how, func = found
        if how is _pass or not self.open or held.aside or stands_aside():
            held.lifted += 1  # a hook of a backward pass may step, say
            try:
                return func(*args, **kwargs)
            finally:
                held.lifted -= 1
        held.handling += 1
        try:
            return how(func, args, kwargs)
        finally:
            held.handling -= 1


def stands_aside() -> bool:
    """Is something under way that must not be looked into: functorch, tracing, another dispatch mode, a captured graph?"""
    if torch._C._functorch.peek_interpreter_stack() is not None or torch._C._len_torch_dispatch_stack() > 0:
        return True
    if torch.compiler.is_compiling() or torch._C._get_tracing_state() is not None:
        return True
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


# The stack -----------------------------------------------------------------------------------------

ear = Ear()


def set_open(on: bool) -> None:
    """Listen, or stop it; as soon as the stack may be changed."""
    ear.open = later.close = on
    settle()


def settle() -> None:
    """Bring the stack of this thread in line with what is wanted, unless a handler is running."""
    wanted = ear.open and get_ident() == home.number
    if wanted is held.listens or held.handling or held.lifted:
        return
    held.listens = wanted
    change_stack(lambda stack: [ear, *stack] if wanted else [mode for mode in stack if mode is not ear])


def _moved() -> None:
    engine.take_back()
    settle()


home.moved = _moved


def change_stack(new: Callable[[list[Any]], list[Any]]) -> None:
    stack = []
    while torch._C._len_torch_function_stack() > 0:
        stack.append(_pop_mode())
    for mode in new(stack[::-1]):
        _push_mode(mode)


# Ways of handling a call -----------------------------------------------------------------------------


def _pass(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*args, **kwargs)


# NOTE [Patched by the program]: a function of PyTorch's that is written in Python asks modes by its name. Where the program has put
# its own function there, that has called PyTorch's already, and is not to be called by us once more.
_owners = (torch.Tensor, torch.nn.functional, torch.functional)
_first: list[dict[str, Any]] = []  # what stood there before the program did anything


def remember_functions() -> None:
    """The session begins."""
    if not _first:
        _first.extend(dict(vars(owner)) for owner in _owners)


def _as_it_was(func: Any) -> Any:
    code = getattr(func, "__code__", None)
    if code is not None and not lines._is_engine(code.co_filename):
        for owner, first in zip(_owners, _first, strict=False):
            name = next((name for name, now in vars(owner).items() if now is func), None)
            if name is not None:
                return first.get(name, func)
    return func


def _way(func: Any) -> Any:
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__", "__delete__"):
        return _PROPERTIES.get((name, getattr(getattr(func, "__self__", None), "__name__", "")), _pass)
    if name in _SILENT or name.startswith("is_") or not name:
        return _pass
    if name in NUMBERS:
        return _leaving(NUMBERS[name])
    return _WAYS.get(name, _operating(name))


@guarded
def heard_leaving(how: str, t: Any, result: Any) -> None:
    """A tensor became a number or an array."""
    if hub.left is not None and isinstance(t, torch.Tensor) and (_requires_grad(t) or memory.is_followed(t)):
        hub.left(t, how)
    if how == "numpy" and isinstance(t, torch.Tensor) and result is not None:
        memory.exported(t, result, "numpy", lines.here())


def _leaving(how: str) -> Any:
    def way(func: Any, args: Any, kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        heard_leaving(how, args[0], result)
        return result

    return way


def _read_grad(func: Any, args: Any, kwargs: Any) -> Any:
    result = func(*args, **kwargs)
    if lines.is_users_call(3) and hub.looked is not None and args[0].is_leaf:
        guarded(hub.looked)(args[0])
    return result


def _write_grad(func: Any, args: Any, kwargs: Any) -> Any:
    t = args[0]
    users = lines.is_users_call(3)
    if users:
        guarded(told_new_grad)(t, args[1] if len(args) > 1 else None)
    return func(*args, **kwargs)


def told_new_grad(t: Any, grad: Any) -> None:
    """`.grad` is about to be set by hand."""
    if grad is not None and hub.looked is not None:
        hub.looked(t)  # who puts another gradient in its place had a use for it
    if hub.cleared is not None:
        hub.cleared((t,))


def _read_data(func: Any, args: Any, kwargs: Any) -> Any:
    result = func(*args, **kwargs)
    if lines.is_users_call(3):
        guarded(_heard_data)(args[0], result)
    return result


def _heard_data(t: Any, result: Any) -> None:
    memory.shadowed(result)
    if hub.entered is not None:
        hub.entered(result, t)


def _write_data(func: Any, args: Any, kwargs: Any) -> Any:
    result = func(*args, **kwargs)
    if lines.is_users_call(3):
        guarded(_heard_other_data)(args[0])
    return result


def _heard_other_data(t: Any) -> None:
    memory.rebound(t, lines.here())  # whether or not anybody hears of writes
    if hub.wrote is not None:
        hub.wrote(t, "data")


def _set_requires_grad(func: Any, args: Any, kwargs: Any) -> Any:
    result = func(*args, **kwargs)
    if hub.flagged is not None and args[0].is_leaf:
        guarded(hub.flagged)(args[0], bool(args[1] if len(args) > 1 else kwargs.get("requires_grad", True)))
    return result


_PROPERTIES = {
    ("__get__", "grad"): _read_grad,
    ("__set__", "grad"): _write_grad,
    ("__delete__", "grad"): _write_grad,
    ("__get__", "data"): _read_data,
    ("__set__", "data"): _write_data,
    ("__set__", "requires_grad"): _set_requires_grad,
}
for _name in ("T", "H", "mT", "mH", "real", "imag"):
    _PROPERTIES["__get__", _name] = lambda func, args, kwargs: operate(func, args, kwargs, "transpose")


def _detach(func: Any, args: Any, kwargs: Any) -> Any:
    result = func(*args, **kwargs)
    guarded(_heard_detach)(args[0], result)
    return result


def _heard_detach(t: Any, result: Any) -> None:
    if hub.left is not None and _requires_grad(t):
        hub.left(t, "detach")
    if hub.aliased is not None:
        hub.aliased(t, result)


def _detach_here(func: Any, args: Any, kwargs: Any) -> Any:
    if hub.left is not None and _requires_grad(args[0]):
        guarded(hub.left)(args[0], "detach_")
    return func(*args, **kwargs)


def _operating(name: str) -> Any:
    return lambda func, args, kwargs: operate(func, args, kwargs, name)


_WAYS: dict[str, Any] = {
    "detach": _detach,
    "detach_": _detach_here,
    "requires_grad_": _set_requires_grad,
}
_ways: dict[Any, Any] = {}

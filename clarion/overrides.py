"""`torch.overrides`: taking the calls of public functions over with `__torch_function__`, and what to ask about it.

How calls are taken over stands in core/overriding.py.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .core import overriding
from .core.overriding import MODES_ONLY, UNSEEN, Disabled
from .core.tensor import Tensor
from .errors import ArgumentTypeError

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

overriding.install()  # whoever imports this module may have classes of its own, which are no tensors

DisableTorchFunctionSubclass = Disabled


def is_tensor_like(inp: Any) -> bool:
    """Is it a tensor, or does it claim to behave as one?"""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Will one of the arguments, or a mode, take the call over?"""
    if not isinstance(relevant_args, (list, tuple)) and not hasattr(relevant_args, "__iter__"):
        raise ArgumentTypeError(f"expected a sequence of arguments, got {type(relevant_args).__name__}")
    return overriding.wants(relevant_args)


def has_torch_function_unary(value: Any) -> bool:
    """Will it, or a mode, take the call over?"""
    return overriding.wants((value,))


def has_torch_function_variadic(*values: Any) -> bool:
    """Will one of them, or a mode, take the call over?"""
    return overriding.wants(values)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """Let the arguments (and modes) take a call of `public_api` over."""
    found = overriding.takers(relevant_args) if overriding.state.enabled else []
    return overriding.dispatch(public_api, found, args, kwargs)


def redispatch_function(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Call `func` without asking anybody this once; what it calls can be taken over again."""
    return overriding.once_below(func, args, kwargs or {})


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Any], Any]:
    """Make a function of your own one whose calls can be taken over; `dispatcher` names the arguments that may do so."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


# Which functions --------------------------------------------------------------------------------------

# Functions that are given no tensor: they make them, or ask about settings.
_NO_TENSORS = frozenset(
    [
        "arange",
        "are_deterministic_algorithms_enabled",
        "bartlett_window",
        "blackman_window",
        "can_cast",
        "empty",
        "empty_permuted",
        "empty_strided",
        "eye",
        "fftfreq",
        "from_file",
        "frombuffer",
        "full",
        "get_default_device",
        "get_default_dtype",
        "get_deterministic_debug_mode",
        "get_float32_matmul_precision",
        "get_num_interop_threads",
        "get_num_threads",
        "get_rng_state",
        "hamming_window",
        "hann_window",
        "initial_seed",
        "is_deterministic_algorithms_warn_only_enabled",
        "is_warn_always_enabled",
        "kaiser_window",
        "linspace",
        "logspace",
        "ones",
        "promote_types",
        "rand",
        "randint",
        "randn",
        "randperm",
        "range",
        "rfftfreq",
        "scalar_tensor",
        "seed",
        "tril_indices",
        "triu_indices",
        "zeros",
    ]
)
_PLACES = ("torch", "torch.functional", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")


@functools.cache
def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that can be taken over, by the module or class they stand in."""
    found: dict[Any, list[Any]] = {}
    for place in _PLACES:
        module = importlib.import_module(place.replace("torch", "clarion", 1))
        seen = {id(each): each for name, each in vars(module).items() if _is_offered(name, each)}
        found[module] = list(seen.values())
    found[Tensor] = [each for name, each in _members() if not isinstance(each, property)]
    found[Tensor] += [each.__get__ for _, each in _members() if isinstance(each, property)]
    return found


def _is_offered(name: str, each: Any) -> bool:
    public = not name.startswith("_") and name not in MODES_ONLY and name not in UNSEEN and name not in _NO_TENSORS
    return public and isinstance(each, types.FunctionType) and each in overriding._below


def _members() -> list[tuple[str, Any]]:
    named = {name: inspect.getattr_static(Tensor, name) for name in dir(Tensor)}
    return [
        (name, each)
        for name, each in named.items()
        if isinstance(each, (types.FunctionType, property))
        and name not in MODES_ONLY | UNSEEN | overriding._NOT_CALLED
        and (name[0] != "_" or name[:2] == "__")
    ]


@functools.cache
def get_ignored_functions() -> set[Any]:
    """Public functions that cannot be taken over."""
    torch = importlib.import_module("clarion")
    offered = {id(each) for each in get_overridable_functions()[torch]}
    functions = [each for name, each in vars(torch).items() if not name.startswith("_") and callable(each)]
    return {each for each in functions if id(each) not in offered} | {
        Tensor.as_subclass,
        Tensor.__hash__,
        Tensor.__new__,
    }  # type: ignore[attr-defined]


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that can be taken over, one of the same signature that returns -1."""
    found = {}
    for each in [each for group in get_overridable_functions().values() for each in group]:
        found[each] = _returning_minus_one(each)
    return found


def _returning_minus_one(function: Any) -> Callable[..., Any]:
    if not isinstance(function, types.FunctionType):
        return lambda self: -1
    wraps = overriding._below.get(function, function)
    parts = list(inspect.signature(wraps).parameters.values())
    shown = [
        part.replace(annotation=part.empty, default=None if part.default is not part.empty else part.empty)
        for part in parts
    ]
    text = str(inspect.Signature(shown))
    return eval(f"lambda {text[1:-1]}: -1", {})  # type: ignore[no-any-return]


def get_default_nowrap_functions() -> set[Any]:
    """Functions whose results `Tensor.__torch_function__` leaves as they are."""
    return set(overriding._unwrapped())


def is_tensor_method_or_property(func: Any) -> bool:
    """Is it a method, or the getter of a property, of Tensor?"""
    members = [each for _, each in _members()]
    return func in members or func in [each.__get__ for each in members if isinstance(each, property)]


def resolve_name(f: Any) -> str | None:
    """The public name of a function that can be taken over."""
    for place in _PLACES:
        module = importlib.import_module(place.replace("torch", "clarion", 1))
        for name, each in vars(module).items():
            if each is f and isinstance(each, types.FunctionType):
                return f"{place}.{name}"
    return _names_of_members().get(f) if isinstance(f, types.FunctionType | types.MethodWrapperType) else None


@functools.cache
def _names_of_members() -> dict[Any, str]:
    names: dict[Any, str] = {}
    for name, each in _members():
        getter = isinstance(each, property)
        names.setdefault(each.__get__ if getter else each, f"torch.Tensor.{name}" + (".__get__" if getter else ""))
    return names


# Modes ------------------------------------------------------------------------------------------------


class TorchFunctionMode:
    """While it is entered, its `__torch_function__` is given every call of a public function in this thread."""

    inner: TorchFunctionMode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A mode defines what it does with a call."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        overriding.enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        overriding.leave()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """A new mode, to be entered."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call go on."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Goes on."""
        return func(*args, **(kwargs or {}))


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A block in which a class that takes operations over may run them on what it wraps. It may do so anywhere here."""
    yield


def _get_current_function_mode() -> Any:
    return overriding.state.modes[-1] if overriding.state.modes else None


def _get_current_function_mode_stack() -> list[Any]:
    return list(overriding.state.modes)


@contextmanager
def _enable_torch_function() -> Any:
    before, overriding.state.enabled = overriding.state.enabled, True
    try:
        yield
    finally:
        overriding.state.enabled = before

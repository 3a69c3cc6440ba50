"""Decorators of pipes: a name as a method, what is not deterministic, types that are checked."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

from ._typing import _DataPipeMeta
from .datapipe import IterDataPipe, MapDataPipe


class functional_datapipe:
    """`@functional_datapipe("double")` above a pipe's class: every pipe has the method `double`."""

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name = name
        self.enable_df_api_tracing = enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        if not isinstance(cls, type):
            owner = cls if isinstance(cls, non_deterministic) else getattr(cls, "__self__", None)
            if not isinstance(owner, non_deterministic):
                raise TypeError("`functional_datapipe` can only decorate IterDataPipe")
            IterDataPipe.register_datapipe_as_function(self.name, cls)
        elif issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        elif issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        return cls


_determinism = False
_runtime_validation_enabled = True


class guaranteed_datapipes_determinism:
    """From here on (to the end of the block) pipes that are not deterministic are refused."""

    def __init__(self) -> None:
        global _determinism
        self.prev, _determinism = _determinism, True

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        global _determinism
        _determinism = self.prev


class non_deterministic:
    """Marks a pipe's class as not deterministic, always or where a function of its arguments says so."""

    cls: type[IterDataPipe[Any]] | None = None
    deterministic_fn: Callable[..., bool]

    def __init__(self, arg: Any) -> None:
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError(
                    f"Only `IterDataPipe` can be decorated with `non_deterministic`, but {arg.__name__} is found"
                )
            self.cls = arg
        elif callable(arg):
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.cls is not None:
            if _determinism:
                raise TypeError(
                    f"{self.cls.__name__} is non-deterministic, but you set 'guaranteed_datapipes_determinism'. You can "
                    "turn off determinism for this DataPipe if that is acceptable for your application"
                )
            return self.cls(*args, **kwargs)
        if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0].__name__} is found")
        self.cls = args[0]
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args: Any, **kwargs: Any) -> IterDataPipe[Any]:
        """Make the pipe, if it may be made."""
        assert self.cls is not None
        random = self.deterministic_fn(*args, **kwargs)
        if not isinstance(random, bool):
            raise TypeError(
                "deterministic_fn of `non_deterministic` decorator is required to return a boolean value, but "
                f"{type(random)} is found"
            )
        if _determinism and random:
            raise TypeError(
                f"{self.cls.__name__} is non-deterministic with the inputs, but you set "
                "'guaranteed_datapipes_determinism'. You can turn off determinism for this DataPipe if that is acceptable "
                "for your application"
            )
        return self.cls(*args, **kwargs)


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Arguments that are annotated as pipes must be pipes."""
    signature = inspect.signature(f)
    hints = get_type_hints(f)

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if isinstance(hints.get(name), _DataPipeMeta) and not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
        return f(*args, **kwargs)

    return wrapper


class runtime_validation_disabled:
    """From here on (to the end of the block) samples' types are not checked."""

    def __init__(self) -> None:
        global _runtime_validation_enabled
        self.prev, _runtime_validation_enabled = _runtime_validation_enabled, False

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        global _runtime_validation_enabled
        _runtime_validation_enabled = self.prev


def runtime_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Above `__iter__`: samples must be of the pipe's type, where it has one."""
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")

    @functools.wraps(f)
    def wrapper(self: Any) -> Iterator[Any]:
        for sample in f(self):
            if _runtime_validation_enabled and not self.type.issubtype_of_instance(sample):
                raise RuntimeError(
                    f"Expected an instance as subtype of {self.type}, but found {sample}({type(sample)})"
                )
            yield sample

    return wrapper

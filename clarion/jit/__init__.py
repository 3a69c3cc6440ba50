"""`torch.jit`: programs are not compiled here. What would be compiled runs as Python, with the same results.

`script`, `trace` and their kin give back what they are given; marks for the compiler mean nothing; what only exists
compiled (`save`, `load`, `CompilationUnit`) refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ..absent import rest
from ..core.tensor import Tensor
from ..errors import EngineError
from ..futures import Future as Future
from ..nn.modules.module import Module
from .annotations import fits as _fits  # also makes `annotations` the module, no longer the future

T = TypeVar("T")

Final = Final  # as in `size: torch.jit.Final[int]`


class Attribute(tuple):  # type: ignore[type-arg]
    """A value and its type: `Attribute(0.5, float)`. As an attribute of a module it would be the value."""

    value = property(lambda self: self[0])
    type = property(lambda self: self[1])

    def __new__(cls, value: Any, type: Any) -> Attribute:
        return super().__new__(cls, (value, type))


class Error(RuntimeError):
    """What compiled programs raise."""


class TracerWarning(Warning):
    """What tracing warns with in PyTorch; here nothing does."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """There are none."""


class ScriptModule(Module):
    """A module whose methods would be compiled: an ordinary one."""


class RecursiveScriptModule(ScriptModule):
    """What `script(module)` would give; there are none."""


class TracedModule(ScriptModule):
    """What `trace(module)` would give; there are none."""


TopLevelTracedModule = TracedModule


class ScriptFunction:
    """What `script(function)` would give; there are none."""


class ONNXTracedModule(Module):
    """A module traced for export; there are none."""


def script(obj: T, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> T:
    """The function, class or module itself: it runs as Python."""
    return obj


def trace(
    func: Any = None,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    *args: Any,
    example_kwarg_inputs: Any = None,
    **options: Any,
) -> Any:
    """The function or module itself: nothing is recorded, every call runs the Python."""
    if func is None:
        return lambda fn: fn
    if example_inputs is not None or example_kwarg_inputs is not None:
        _run_as_if_traced(func, () if example_inputs is None else example_inputs, example_kwarg_inputs, check_trace)
    return func


def trace_module(
    mod: Any, inputs: Any, optimize: Any = None, check_trace: bool = True, *args: Any, **options: Any
) -> Any:
    """The module itself."""
    for method, example in inputs.items():
        _run_as_if_traced(getattr(mod, method), example, None, check_trace)
    return mod


def _run_as_if_traced(func: Any, inputs: Any, named: Any, check: bool) -> None:
    """PyTorch records one run, and three more to check it: so many random numbers are drawn, so often running statistics move."""
    inputs = (inputs,) if isinstance(inputs, (Tensor, dict)) else tuple(inputs)
    for _ in range(4 if check else 1):
        func(*inputs, **(named or {}))


def _mark(fn: Any = None, **options: Any) -> Any:
    """A mark for the compiler: the function itself."""
    return (lambda f: f) if fn is None or isinstance(fn, bool) else fn


ignore = unused = export = script_if_tracing = interface = script_method = _script_if_tracing = _overload = _mark
_overload_method = _drop = _mark


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """The module itself, which has to be in evaluation mode."""
    if getattr(mod, "training", False):
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module before freezing."
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """The module itself."""
    return mod


def run_frozen_optimizations(mod: Any, *args: Any, **options: Any) -> None:
    """Nothing: the module runs as it is."""


def is_scripting() -> bool:
    """Is this code compiled? No."""
    return False


def is_tracing() -> bool:
    """Is this code being recorded? No."""
    return False


def annotate(the_type: Any, the_value: T) -> T:
    """The value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Is a value of this type? Containers are asked for what is in them, as in `List[int]`."""
    return _fits(obj, target_type)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The result of a call that has been made."""
    done: Future[Any] = Future()
    done.set_result(func(*args, **kwargs))
    return done


def wait(future: Future[Any]) -> Any:
    """The result of a `fork`."""
    if future is None:
        raise EngineError("Future can't be None")
    return future.wait()


_fork, _wait = fork, wait  # their names in older programs


class strict_fusion:
    """Would insist that a block is compiled to one kernel: nothing is compiled, so it refuses nothing."""

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


class optimized_execution(strict_fusion):
    """Would turn the compiler's optimizations on or off."""

    def __init__(self, should_optimize: bool) -> None: ...


class fuser(strict_fusion):
    """Would choose the compiler of kernels."""

    def __init__(self, name: str) -> None: ...


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """How often the compiler may try anew: it never does."""
    return []


def onednn_fusion_enabled() -> bool:
    """Are kernels fused with oneDNN? No."""
    return False


def enable_onednn_fusion(enabled: bool) -> None:
    """Would fuse kernels with oneDNN."""


__getattr__ = rest(__name__)

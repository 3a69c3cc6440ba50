"""`torch.compile` and `torch.compiler`: functions that are recorded and replayed. The room behind it is `clarion/compiling`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_BACKENDS = (
    "inductor",
    "aot_eager",
    "eager",
    "cudagraphs",
    "aot_ts_nvfuser",
    "onnxrt",
    "tvm",
    "openxla",
    "aot_eager_decomp_partition",
)


def _room(name: str) -> Any:
    """A part of the compiler, loaded when it is first needed."""
    return importlib.import_module(f"clarion.compiling.{name}")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    check: bool = False,
) -> Any:
    """A function, a module or a whole training step, recorded once for each kind of arguments and replayed from then on.

    What cannot be replayed safely runs as it is written, and the reason is said once (`explain` shows it). `fullgraph=True`
    raises instead; `check=True` runs both at each call, and raises where they differ. With `backend="eager"` or `disable=True`
    nothing is compiled. As a decorator it takes options alone.
    """
    if model is None:
        return lambda fn: compile(
            fn,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
            check=check,
        )
    if not callable(model):
        raise TypeError(f"torch.compile expects a callable or a Module, not {type(model).__name__}")
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if isinstance(backend, str) and backend not in _BACKENDS:
        raise importlib.import_module("clarion._dynamo.exc").InvalidBackend(
            f"Invalid backend: {backend!r}, see `torch._dynamo.list_backends()`"
        )
    if disable or backend == "eager":
        return model
    return _room("face").compiled(model, fullgraph, check)


def explain(fn: Any) -> Callable[..., Any]:
    """`explain(fn)(*args)` calls a function often enough to compile it, and says what became of it."""
    return _room("face").explain(fn)  # type: ignore[no-any-return]


compile.explain = explain  # type: ignore[attr-defined]


def pointwise(function: Any) -> Any:
    """A function of numbers as an operation on tensors: one fused kernel, with its derivatives (`docs/compile.md`)."""
    return _room("pointwise").pointwise(function)


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function, never compiled: a compiled function that calls it runs as it is written."""
    if fn is None:
        return lambda f: disable(f, recursive, reason=reason)
    return _room("face").disabled(fn, reason)


def is_compiling() -> bool:
    """Is this code being recorded for replays?"""
    return is_dynamo_compiling()


def is_dynamo_compiling() -> bool:
    """Is this code being recorded for replays?"""
    import sys

    room = sys.modules.get("clarion.compiling.arrays")
    return room is not None and room.recording() is not None


def is_exporting() -> bool:
    """Is this code being exported? No."""
    return False


def set_stance(stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None) -> Any:
    """Whether compiled functions run as they are written ("force_eager") or compiled ("default"); also a context and decorator."""
    chosen = _room("stance").set_stance
    return chosen(stance, skip_guard_eval_unsafe=skip_guard_eval_unsafe, force_backend=force_backend)


def reset() -> None:
    """Forget what was compiled."""
    import sys

    if "clarion.compiling.function" in sys.modules:
        _room("function").reset()


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """The names of all compilers: clarion's own goes by that of PyTorch's."""
    return ["inductor"]


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no CUDA graphs in compiled functions."""

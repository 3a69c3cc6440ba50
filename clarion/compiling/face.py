"""What `torch.compile` gives for functions and modules, and what `explain` says of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._dynamo.backends.debugging import ExplainOutput
from .._dynamo.eval_frame import OptimizedModule
from ..nn.modules.module import Module
from .arrays import recording
from .function import Compiled, of
from .function import compiled as compiled_function


def compiled(model: Any, fullgraph: bool, check: bool) -> Any:
    """A compiled function; for a module one that has it inside."""
    if isinstance(model, OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, compiled_function(model, fullgraph, check))
    if hasattr(model, "_compiled"):
        return model
    return compiled_function(model, fullgraph, check)


def disabled(fn: Any, reason: str | None) -> Any:
    """The function; when a compiled function calls it, that one is told."""
    if isinstance(fn, (Module, type)):
        return fn
    if hasattr(fn, "_compiled"):
        return of(fn).function

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        now = recording()
        if now is not None:
            now.refuse(
                f"{getattr(fn, '__qualname__', 'a function')} is not to be compiled" + (f": {reason}" if reason else "")
            )
        return fn(*args, **kwargs)

    return call


def explain(fn: Any) -> Callable[..., ExplainOutput]:
    """Call a function until it is compiled, or it is known why not."""
    made: Compiled = of(fn) if hasattr(fn, "_compiled") else of(compiled_function(fn))

    def call(*args: Any, **kwargs: Any) -> ExplainOutput:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(12):
                before = made.replays
                made(*args, **kwargs)
                if made.replays > before or made.reasons:
                    break
        ready = [v.ready for versions in made.versions.values() for v in versions if v.ready is not None]
        found = ExplainOutput(made.name, bool(ready), list(made.reasons), graph_count=len(ready))
        found.graph_break_count = len(made.reasons)
        if ready:
            found.steps = ready[-1].description()
        return found

    return call

"""`torch._dynamo`: the compiler's settings and marks. clarion's compiler (`clarion/compiling`) needs none: settings are only kept."""

from __future__ import annotations

from typing import Any

from ..compiler import allow_in_graph as allow_in_graph
from ..compiler import assume_constant_result as assume_constant_result
from ..compiler import compile as compile
from ..compiler import disable as disable
from ..compiler import is_compiling as is_compiling
from ..compiler import list_backends as list_backends
from ..compiler import reset as reset
from . import config as config
from . import exc as exc
from . import external_utils as external_utils
from . import utils as utils
from .eval_frame import OptimizedModule as OptimizedModule


def _same(fn: Any = None, *args: Any, **options: Any) -> Any:
    """A mark for the compiler: the function itself."""
    return (lambda f: f) if fn is None else fn


disallow_in_graph = forbid_in_graph = substitute_in_graph = run = skip = nonstrict_trace = dont_skip_tracing = _same


def optimize(backend: Any = "inductor", *, nopython: bool = False, **options: Any) -> Any:
    """The old name of `torch.compile`."""
    return compile(backend=backend, fullgraph=nopython)


def graph_break(msg: str = "") -> None:
    """Would end a piece of compiled code."""


def mark_dynamic(t: Any, index: Any = None, **options: Any) -> None:
    """A dimension that will have other sizes: all may."""


maybe_mark_dynamic = mark_static = mark_unbacked = mark_static_address = mark_dynamic


def is_dynamo_supported() -> bool:
    """Can functions be compiled?"""
    return True


def explain(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """What becomes of a function that is to be compiled: `explain(fn)(*args)`."""
    asked = compile.explain(fn)  # type: ignore[attr-defined]
    return asked(*args, **kwargs) if args or kwargs else asked

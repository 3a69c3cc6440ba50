"""Public faces of operations that take one tensor and nothing else."""

from __future__ import annotations

import inspect
from typing import Any

from ...core.calls import function_call
from ...core.inplace import inplace
from ...core.op import Op
from ...errors import ArgumentTypeError
from .api import FUNCTIONS, METHODS, with_out

# (They are written when they are first called: what they take is said here.)
_FUNCTION = inspect.signature(lambda input, *, out=None: None)
_PLAIN = inspect.signature(lambda input: None)
_METHOD = inspect.signature(lambda self: None)


def faces(op: Op, doc: str, *aliases: str, writes: bool = True, out: bool = True) -> Any:
    """Register `torch.name`, `Tensor.name`, `Tensor.name_` and `out=` for an operation of one tensor.

    The method is `op.call` itself and the function written like it: nothing is parsed, and the user's line is the caller's.
    """
    call, name = op.call, op.name
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    function = function_call(op, with_out(name, lambda input: call(input)) if out else _refuses_out(name))

    def writer(self: Any) -> Any:
        return inplace(op, self)

    function.__name__ = function.__qualname__ = name
    writer.__name__ = writer.__qualname__ = f"{name}_"
    function.__signature__, call.__signature__ = _FUNCTION if out else _PLAIN, _METHOD  # type: ignore[attr-defined]
    function.__doc__, writer.__doc__ = doc, f"{name}, in place."
    for each in (name, *aliases):
        FUNCTIONS[each] = function
        METHODS[each] = call
        if writes:
            METHODS[f"{each}_"] = FUNCTIONS[f"{each}_"] = writer
    return function


def _refuses_out(name: str) -> Any:
    def refuse(input: Any, *, out: Any = None) -> Any:
        raise ArgumentTypeError(f"{name}() got an unexpected keyword argument 'out'")

    return refuse

"""Public faces of operations that take one tensor and nothing else."""

from __future__ import annotations

from typing import Any

from ...core.inplace import inplace
from ...core.op import Op
from .api import FUNCTIONS, METHODS, with_out


def faces(op: Op, doc: str, *aliases: str, writes: bool = True) -> Any:
    """Register `torch.name`, `Tensor.name`, `Tensor.name_` and `out=` for an operation of one tensor.

    The method is `op.call` itself and the function one step away from it: nothing is parsed on the way.
    """
    call, name = op.call, op.name
    call.__name__ = call.__qualname__ = name
    call.__doc__ = doc
    with_target = with_out(name, lambda input: call(input))

    def function(input: Any, *, out: Any = None) -> Any:
        return call(input) if out is None else with_target(input, out=out)

    def writer(self: Any) -> Any:
        return inplace(op, self)

    function.__name__ = function.__qualname__ = name
    writer.__name__ = writer.__qualname__ = f"{name}_"
    function.__doc__, writer.__doc__ = doc, f"{name}, in place."
    for each in (name, *aliases):
        FUNCTIONS[each] = function
        METHODS[each] = call
        if writes:
            METHODS[f"{each}_"] = FUNCTIONS[f"{each}_"] = writer
    return function

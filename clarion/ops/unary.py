"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

from ..core.op import Op
from .api import call, public

exp_op = Op("exp", "x", elementwise=True, promote="float")
exp_op.vjp(x=lambda g, out: g * out)


@public(inplace=True, out=True)
def exp(input: Any, *, run: Any = call) -> Any:
    """e ** input."""
    return run(exp_op, input)

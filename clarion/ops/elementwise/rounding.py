"""Rounding to whole numbers."""

from __future__ import annotations

from typing import Any

from ..faces.api import call, public
from ..faces.single import faces
from ..faces.typed import TypedOp
from .unary import step

floor_op = TypedOp("floor", "x", elementwise=True).refusing("bc", title="floor_vml_cpu")
floor = faces(floor_op.vjp(x=step), "The whole number below.")

ceil_op = TypedOp("ceil", "x", elementwise=True).refusing("bc", title="ceil_vml_cpu")
ceil = faces(ceil_op.vjp(x=step), "The whole number above.")

trunc_op = TypedOp("trunc", "x", elementwise=True).refusing("bc", title="trunc_vml_cpu")
trunc = faces(trunc_op.vjp(x=step), "The whole number towards 0.", "fix")

frac_op = TypedOp("frac", "x", elementwise=True).refusing("biuc")
frac = faces(frac_op.vjp(x=lambda g: g), "What `trunc` takes away.")

round_op = TypedOp("round", "x", elementwise=True).refusing("bc", title="round_vml_cpu")
round_op.vjp(x=step)
round_decimals_op = TypedOp("round_decimals", "x", "decimals", node="RoundBackward1", elementwise=True)
round_decimals_op.refusing("biuc", title="round_cpu").vjp(x=step)


@public(inplace=True, out=True)
def round(input: Any, *, decimals: int | None = None, run: Any = call) -> Any:
    """The nearest whole number, or number of `decimals` places; halves go to the even one."""
    return run(round_op, input) if decimals is None else run(round_decimals_op, input, decimals)

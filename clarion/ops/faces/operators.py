"""Python's operators on tensors: arithmetic, comparison, bits; reflected and in place.

An operand that is neither tensor nor number gives NotImplemented, so that Python asks the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import modes
from ...core.calls import OPERANDS, operator_call
from ...core.devices import ndarray
from ...core.inplace import inplace
from ...core.namespace import OPS
from ...core.op import Op
from ...errors import ArgumentTypeError
from ..elementwise import arithmetic as a
from ..elementwise import compare as c
from ..elementwise import logical as bits
from ..elementwise import power as p
from .api import METHODS


def forward(call: Op | Callable[[Any, Any], Any], name: str) -> Callable[[Any, Any], Any]:
    """`self op other`."""
    if isinstance(call, Op):
        return operator_call(call)

    def operator(self: Any, other: Any) -> Any:
        return call(self, other) if isinstance(other, OPERANDS) else NotImplemented

    operator.__name__ = name
    return operator


def in_place(op: Op, name: str) -> Callable[[Any, Any], Any]:
    """`self op= other`."""

    def operator(self: Any, other: Any) -> Any:
        return inplace(op, self, other) if isinstance(other, OPERANDS) else NotImplemented

    operator.__name__ = name
    return operator


def swapped(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """For `other op self` where the order matters."""
    return lambda self, other: call(other, self)


FORWARD: dict[str, Op | Callable[[Any, Any], Any]] = {
    "add": a.add_op, "radd": a.add_op, "sub": a.sub_op, "rsub": a.rsub,
    "mul": a.mul_op, "rmul": a.mul_op, "truediv": a.div_op, "div": a.div_op,
    "floordiv": a.floor_divide_op, "rfloordiv": swapped(a.floor_divide_op.call),
    "mod": a.remainder, "rmod": swapped(a.remainder), "rpow": swapped(p.pow),
    "eq": c.eq_op, "ne": c.ne_op, "lt": c.lt_op, "le": c.le_op, "gt": c.gt_op,
    "ge": c.ge_op, "and": bits.bitwise_and_op, "rand": bits.bitwise_and_op,
    "or": bits.bitwise_or_op, "ror": bits.bitwise_or_op, "xor": bits.bitwise_xor_op,
    "rxor": bits.bitwise_xor_op, "lshift": bits.bitwise_left_shift_op,
    "rlshift": swapped(bits.bitwise_left_shift_op.call), "rshift": bits.bitwise_right_shift_op,
    "rrshift": swapped(bits.bitwise_right_shift_op.call),
}  # fmt: skip
for _name, _call in FORWARD.items():
    METHODS[f"__{_name}__"] = forward(_call, f"__{_name}__")

IN_PLACE: dict[str, Op] = {
    "iadd": a.add_op, "isub": a.sub_op, "imul": a.mul_op, "itruediv": a.div_op, "idiv": a.div_op,
    "ifloordiv": a.floor_divide_op, "iand": bits.bitwise_and_op, "ior": bits.bitwise_or_op,
    "ixor": bits.bitwise_xor_op, "ilshift": bits.bitwise_left_shift_op, "irshift": bits.bitwise_right_shift_op,
}  # fmt: skip
for _name, _op in IN_PLACE.items():
    METHODS[f"__{_name}__"] = in_place(_op, f"__{_name}__")


def iadd(self: Any, other: Any) -> Any:
    """`self += other`; what counts is written in one step."""
    if type(other) is int and not modes.special and a.add_op.quick_write(self, other) is not None:
        return self
    return inplace(a.add_op, self, other) if isinstance(other, OPERANDS) else NotImplemented


iadd.__name__ = "__iadd__"
METHODS.replace("__iadd__", iadd)


def rtruediv(self: Any, other: Any) -> Any:
    """`other / self`: PyTorch multiplies the reciprocal."""
    if not isinstance(other, OPERANDS):
        return OPS["reciprocal"].call(self) * other if isinstance(other, ndarray) else NotImplemented
    return a.mul_op.call(OPS["reciprocal"].call(self), other)


def imod(self: Any, other: Any) -> Any:
    """`self %= other`."""
    return a.remainder(self, other, run=inplace) if isinstance(other, OPERANDS) else NotImplemented


def ipow(self: Any, other: Any) -> Any:
    """`self **= other`."""
    return p.pow(self, other, run=inplace) if isinstance(other, OPERANDS) else NotImplemented


def power(self: Any, other: Any) -> Any:
    """`self ** other`."""
    number = (type(other) is int or type(other) is float) and -128 < other < 128  # which every type holds
    if number and (other >= 0 or self._array.dtype.kind != "u"):
        return p.pow_scalar_op.call(self, other)
    return p.pow(self, other) if isinstance(other, OPERANDS) else NotImplemented


def invert(self: Any) -> Any:
    """`~self`."""
    if self._array.dtype.kind not in "biu":
        raise ArgumentTypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bits.bitwise_not_op.call(self)


rtruediv.__name__ = "__rdiv__"  # PyTorch's name
METHODS["__rtruediv__"] = METHODS["__rdiv__"] = rtruediv
METHODS["__pow__"], METHODS["__imod__"], METHODS["__ipow__"] = power, imod, ipow
METHODS["__invert__"] = invert
METHODS["__neg__"] = operator_call(a.neg_op)

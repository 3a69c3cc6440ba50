"""Comparisons: results are bool and have no gradient."""

from __future__ import annotations

from typing import Any

from ...core.devices import xp_of
from ...core.dtypes import FROM_NUMPY
from ...core.op import Op
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError
from ...kernels.blocks import same
from ..faces.api import call, public
from ..faces.typed import TypedOp, need_tensors


def _comparison(name: str, refuse: str = "") -> Op:
    op = TypedOp(name, "x y", elementwise=True, promote="common", differentiable=False).refusing(refuse)
    # Out of place nothing is recorded; in place the old value is gone: its gradient is zero.
    return op.vjp(x=lambda g, ops: ops.zero(g), y=lambda g, ops: ops.zero(g))


eq_op, ne_op = _comparison("eq"), _comparison("ne")
lt_op, le_op, gt_op, ge_op = (_comparison(name, refuse="c") for name in ("lt", "le", "gt", "ge"))


@public(inplace=True, out=True)
def eq(input: Any, other: Any, *, run: Any = call) -> Any:
    """input == other."""
    need_tensors("eq", input)
    return run(eq_op, input, other)


@public(inplace=True, out=True, aliases=("not_equal",))
def ne(input: Any, other: Any, *, run: Any = call) -> Any:
    """input != other."""
    need_tensors("ne", input)
    return run(ne_op, input, other)


@public(inplace=True, out=True, aliases=("less",))
def lt(input: Any, other: Any, *, run: Any = call) -> Any:
    """input < other."""
    need_tensors("lt", input)
    return run(lt_op, input, other)


@public(inplace=True, out=True, aliases=("less_equal",))
def le(input: Any, other: Any, *, run: Any = call) -> Any:
    """input <= other."""
    need_tensors("le", input)
    return run(le_op, input, other)


@public(inplace=True, out=True, aliases=("greater",))
def gt(input: Any, other: Any, *, run: Any = call) -> Any:
    """input > other."""
    need_tensors("gt", input)
    return run(gt_op, input, other)


@public(inplace=True, out=True, aliases=("greater_equal",))
def ge(input: Any, other: Any, *, run: Any = call) -> Any:
    """input >= other."""
    need_tensors("ge", input)
    return run(ge_op, input, other)


# Whole tensors -------------------------------------------------------------------------------------

isclose_op = Op("isclose", "x y", "rtol atol equal_nan", differentiable=False, pointwise=True)


def _number(name: str, position: int, value: Any) -> float:
    """A tolerance, which may be a tensor of one element that requires no gradient."""
    if not isinstance(value, Tensor):
        return float(value)
    if value.requires_grad or value._array.ndim:
        raise ArgumentTypeError(f"isclose(): argument '{name}' (position {position}) must be float, not Tensor")
    return float(value)


@public()
def isclose(
    input: Any,
    other: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Any:
    """|input - other| <= atol + rtol * |other|, element by element."""
    need_tensors("isclose", input, other)
    have, want = FROM_NUMPY[input._array.dtype], FROM_NUMPY[other._array.dtype]
    if have is not want:
        raise EngineError(f"{have.old} did not match {want.old}")
    rtol, atol = _number("rtol", 3, rtol), _number("atol", 4, atol)
    if rtol < 0:
        raise EngineError(f"rtol must be greater than or equal to zero, but got {rtol}")
    if atol < 0:
        raise EngineError(f"atol must be greater than or equal to zero, but got {atol}")
    return isclose_op.call(input, other, rtol, atol, equal_nan)


@public()
def allclose(
    input: Any,
    other: Any,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Are all elements close?"""
    need_tensors("allclose", input, other)
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all().item())


@public()
def equal(input: Any, other: Any) -> bool:
    """Same shape and same values?"""
    need_tensors("equal", input, other)
    return same(xp_of(input._array), input._array, other._array)

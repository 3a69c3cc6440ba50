"""Sizes that a compiler does not know yet (`torch.SymInt` and its kin): there are none here, sizes are numbers.

Also `torch._check` and its kin, which programs use to promise a compiler something; here the promise is checked.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from .absent import refusing_class
from .core import overriding
from .core.dtypes import bool_
from .core.tensor import Tensor
from .errors import ArgumentTypeError

SymInt, SymFloat, SymBool = (refusing_class(f"torch.{name}") for name in ("SymInt", "SymFloat", "SymBool"))
TensorType, DeviceObjType = (refusing_class(f"torch.{name}") for name in ("TensorType", "DeviceObjType"))


def sym_int(a: Any) -> int:
    """A number cut off to an integer."""
    return math.trunc(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    return builtins.float(a)


def sym_not(a: Any) -> bool:
    """Not so."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger number; a float if one of them is."""
    return _one_type(builtins.max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number; a float if one of them is."""
    return _one_type(builtins.min(a, b), a, b)


def _one_type(value: Any, a: Any, b: Any) -> Any:
    return builtins.float(value) if isinstance(a, builtins.float) or isinstance(b, builtins.float) else value


def sym_sum(args: Any) -> Any:
    """The sum."""
    return builtins.sum(args)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """The first if it is so, the second if not."""
    return t if b else f


# Promises --------------------------------------------------------------------------------------------


def _check_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    """Raise unless it is so."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not cond:
        raise error_type("Expected cond to be True, but got False." if message is None else str(message()))


def _check(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Callable[[], str] | None = None, *, max: Any = None) -> None:
    _check(i >= 0, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Callable[[], str] | None = None) -> None:
    if not isinstance(cond, Tensor):
        raise ArgumentTypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise ArgumentTypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Callable[[], str] | None = None) -> None:
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> None:
    """`assert`, as a function."""
    if not isinstance(condition, Tensor) and overriding.wants((condition,)):  # who traces a program writes it down
        return overriding.dispatch(_assert, overriding.takers((condition,)), (condition, message), {})  # type: ignore[no-any-return]
    assert bool(condition), message
    return None


def _assert_async(condition: Tensor, message: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """Raise unless the one element is not zero."""
    _check_with(RuntimeError, bool(condition), lambda: message)


def _shape_as_tensor(x: Tensor) -> Tensor:
    """The shape as a tensor of integers."""
    from .ops.faces.api import FUNCTIONS

    return FUNCTIONS["tensor"](list(x.shape))  # type: ignore[no-any-return]


def _cast(name: str) -> Callable[..., Tensor]:
    """`torch._cast_Long` and its kin: `x.long()`."""

    def cast(x: Tensor, non_blocking: bool = False) -> Tensor:
        return getattr(x, name)()  # type: ignore[no-any-return]

    return cast


_cast_Byte, _cast_Char, _cast_Short, _cast_Int, _cast_Long = map(_cast, ("byte", "char", "short", "int", "long"))
_cast_Half, _cast_Float, _cast_Double = map(_cast, ("half", "float", "double"))

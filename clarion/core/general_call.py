"""Calling operations on anything: promotion, optional and variadic inputs, half precision, several outputs."""

from __future__ import annotations

from math import copysign
from typing import TYPE_CHECKING, Any

from .. import errors
from ..events import hub
from ..kernels.halved import KERNELS, LEAST
from ..kernels.layout import rows, where_they_meet
from . import modes
from .devices import HALVES, HOST, as_array, ndarray
from .dtypes import COMPLEX, FROM_NUMPY, HALF, NUMBERS, NumpyNumber, b1, c32, f16, f32, f64, i64
from .messages import broadcast_error, not_a_tensor, out_of_memory
from .op_node import cast
from .recording import finished, record
from .tensor import Tensor, new_tensor

if TYPE_CHECKING:
    from .op import Op


# PyTorch multiplies half precision by a number as it is, and divides; elsewhere the number is rounded first.
WIDE_NUMBERS = frozenset(["mul", "div"])

# Python numbers as 0-dim arrays: NumPy is twice as fast with them. Never a zero among floats: 0.0 and -0.0 are equal keys.
numbers32: dict[float, Any] = {}
numbers64: dict[float, Any] = {}
whole_numbers: dict[int, Any] = {}
_ZEROS = {dtype: HOST.xp.asarray(0.0, dtype) for dtype in (f32, f64)}
LARGEST = (1 << 63) - 1  # (the smallest number of int64 goes the general way)


def plain_number(value: Any) -> Any:
    """A constant of an operation that is given as a tensor of one element or as NumPy's number, whose type would count: as Python's."""
    return value.item() if isinstance(value, (Tensor, NumpyNumber)) else value


def as_scalar(value: float, dtype: Any) -> Any:
    """A Python number as a 0-dim array, remembered."""
    known: dict[Any, Any] = numbers32 if dtype is f32 else whole_numbers if dtype is i64 else numbers64
    array = known.get(value)
    if array is not None:
        return array
    if not value and dtype is not i64 and copysign(1.0, value) > 0:
        return _ZEROS[dtype] if dtype in _ZEROS else HOST.xp.asarray(value, dtype)
    array = HOST.xp.asarray(value, dtype)
    if (value or dtype is i64) and value == value and len(known) < 1000:
        known[value] = array
    return array


def beside(tensors: tuple[Any, ...], value: float) -> Any:
    """A Python number as an array of the floating type that tensors have, if one of them has; else the number."""
    for t in tensors:
        if isinstance(t, Tensor):
            dtype = t._array.dtype
            if dtype is f32 or dtype is f64:
                return as_scalar(value, dtype)
    return value


def meet(a: Any, b: Any) -> bool:
    """Float32 and half precision, where kernels read both as they are: nothing is cast before."""
    if type(a) not in HALVES or type(b) is not type(a) or not a.ndim or not b.ndim:
        return False
    first, second = a.dtype, b.dtype
    return (first is f32 and second in HALF) or (second is f32 and first in HALF)


def general_call(op: Op, args: tuple[Any, ...], n_in: int | None = None) -> Any:
    """Run an operation on any inputs and record it: promotion, optional and variadic inputs, several outputs."""
    if n_in is None:
        n_in = len(op.inputs)
        if len(args) < op.arity:
            missing = op.arity - len(args)
            args += op.defaults[len(op.defaults) - missing :]
    inputs, params = args[:n_in], args[n_in:]
    for position, value in enumerate(inputs):
        if not isinstance(value, (Tensor, int, float, complex, NumpyNumber)) and (
            value is not None or (op.elementwise and not op.optional)
        ):
            raise not_a_tensor(op, position, value)
    given = _as_they_stand(op, inputs) if op.name in KERNELS else None
    arrays, half = op.raw_operands(list(inputs)) if given is None else (given, None)
    try:
        result = NotImplemented if given is None else KERNELS[op.name](*given, *params)
        if result is NotImplemented:
            if given is not None:
                arrays, half = op.raw_operands(list(inputs))
            result = op.kernel(arrays, *params) if op.variadic else op.kernel(*arrays, *params)
    except ValueError as error:
        raise misfit(op, arrays, error) from None
    except TypeError as error:
        raise unsupported(op, arrays, half, error) from None
    except MemoryError as error:
        raise out_of_memory(error) from None
    if op.pointwise:
        result = where_they_meet(result, tuple(arrays))
    results = result if type(result) is tuple or type(result) is list else (result,)
    if op.reduces:
        results = [rows(r) for r in results]
    outs = tuple(new_tensor(_rounded(r, half)) for r in results)
    if half is not None and "normalizes" in op.traits:
        outs = _with_statistics(inputs, results, outs)
    if op.differentiable:
        if modes.special == 0 or modes.recording():
            record(op, inputs, params, outs)
    elif hub.left is not None:
        for t in inputs:
            if isinstance(t, Tensor) and t._rg:
                hub.left(t, op.name)
    if modes.special:
        finished(op, inputs, params, outs)
    return outs[0] if len(op.outputs) == 1 and type(result) is not list else outs


def _with_statistics(inputs: tuple[Any, ...], results: Any, outs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Statistics in the precision of the parameters, as PyTorch has them; what is as large as the result is rounded as it is."""
    if not any(isinstance(t, Tensor) and t._array.dtype == f32 for t in inputs):
        return outs
    return tuple(out if r.size == outs[0]._array.size else new_tensor(r) for out, r in zip(outs, results, strict=True))


def _as_they_stand(op: Op, inputs: tuple[Any, ...]) -> list[Any] | None:
    """The operands of a kernel that takes half precision of the host as it is; None if they are not for it."""
    first = inputs[0]
    half = first._array.dtype if isinstance(first, Tensor) else None
    if half not in HALF or first._array.size < LEAST or op.variadic:
        return None
    arrays: list[Any] = []
    for t in inputs:
        if isinstance(t, Tensor):
            array = t._array
            kind = array.dtype
            if type(array) is not ndarray or not (kind == half or (op.promote is None and (kind is f32 or kind is b1))):
                return None
            arrays.append(array)
        elif t is None:
            arrays.append(None)
        elif isinstance(t, (int, float)) and not isinstance(t, NumpyNumber):
            number = as_array(t)
            arrays.append((number if op.name in WIDE_NUMBERS else number.astype(half)).astype(f32))
        else:
            return None
    return arrays


def _rounded(r: Any, half: Any) -> Any:
    if type(r) is not ndarray:
        r = as_array(r)
    if half is None:
        return r
    if half in COMPLEX:
        return cast(r, half) if r.dtype in COMPLEX else cast(r, f16) if r.dtype is f32 else r
    if half == f16 and c32 is not None and r.dtype in COMPLEX:  # two halves made a complex number
        return cast(r, c32)
    return cast(r, half) if r.dtype in (f32, f64) else r


def unsupported(op: Op, arrays: list[Any], half: Any, error: TypeError) -> Exception:
    """A type that the array library has no function for, said PyTorch's way."""
    kinds = [half or a.dtype for a in arrays if isinstance(a, ndarray)]
    if kinds and str(error).startswith(("ufunc ", "numpy boolean", "Cannot cast ufunc")):
        return errors.NotSupportedError(f"\"{op.name}_cpu\" not implemented for '{FROM_NUMPY[kinds[0]].old}'")
    return error


def misfit(op: Op, arrays: list[Any], error: ValueError) -> Exception:
    """Shapes that do not broadcast, said PyTorch's way."""
    if op.broadcast and "broadcast" in str(error):
        return broadcast_error(*[() if isinstance(a, NUMBERS) else a.shape for a in arrays if a is not None])
    if str(error).startswith(("array is too big", "Maximum allowed")):
        return errors.EngineError("Storage size calculation overflowed: numel: integer multiplication overflow")
    return error

"""Conversion of data types, and what the types of a result are."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ...core import devices, dtypes
from ...core.devices import HOST, Kind, find, kind_of, to_host
from ...core.dtypes import FROM_NUMPY, HALF, INEXACT, NumpyNumber, bf16, c64, f16, f32, f64, finfo, iinfo, meant
from ...core.op import Op
from ...core.origins import noted
from ...core.tensor import Tensor
from ...errors import ArgumentTypeError, EngineError, not_a_tensor
from ...kernels.layout import channels_last
from ..faces.api import FUNCTIONS, METHODS, method

cast_op = Op("cast", "x", "dtype", node="ToCopyBackward0", moves=True, traits="rearranges reshapes")
cast_op.vjp(x=lambda g: g).jvp("each")  # the engine brings the gradient back to the type of x


def cast(input: Tensor, kind: Any, copy: bool = False) -> Any:
    """`input` in a NumPy type; itself where that changes nothing."""
    if input._array.dtype == kind and not copy:
        return input
    if kind not in INEXACT and (input._rg or input._view is not None):
        input = input.detach()  # integers have no gradient: the history ends here (a view has that of its base)
    return cast_op.call(input, kind)


transfer_op = Op("transfer", "x", "send back", node="ToCopyBackward0", moves=True, traits="rearranges reshapes")
transfer_op.vjp(x=lambda g, send, back, ops: ops.transfer(g, back, send))


def transfer(input: Tensor, where: Kind, non_blocking: bool = False) -> Any:
    """`input` on another kind of device; its gradient comes back to where it is now."""
    here = kind_of(input._array)
    if _lies_on(input, here, where) or (here.name == where.name and (here.mapped or where.mapped)):
        return input
    moved = transfer_op.call(input, _sender(here, where, non_blocking), _sender(where, here))
    if moved._edge is None:
        noted(moved._array)
    return moved


def _lies_on(input: Tensor, here: Kind, where: Kind) -> bool:
    """(A tensor of a class that computes for itself says where it is.)"""
    return here is where or (here.name == "wrapper" and input.device.type == where.name)


def _sender(here: Kind, there: Kind, non_blocking: bool = False) -> Callable[[Any], Any]:
    receive = there.receive_soon if non_blocking else there.receive
    if here.name == "wrapper":  # the class sends what it holds
        return lambda array: receive(to_host(array))
    return lambda array: receive(here.to_host(array))


@method()
def to(
    self: Any,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    other: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Any:
    """The tensor in another type: to(dtype), to(device, dtype), to(other); itself where nothing changes."""
    flags = list(args)
    if flags:
        first = meant(flags.pop(0))
        if isinstance(first, dtypes.dtype):
            dtype = first
        elif isinstance(first, Tensor):
            other = first
        else:
            device = first
            if flags and (flags[0] is None or isinstance(meant(flags[0]), dtypes.dtype)):
                dtype = flags.pop(0)
    if len(flags) > 2 or any(not isinstance(flag, bool) for flag in flags):
        raise ArgumentTypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(type(a).__name__ for a in args)}): "
            "it takes to(dtype), to(device, dtype) or to(other), then non_blocking and copy"
        )
    non_blocking, copy = flags[0] if flags else non_blocking, flags[1] if len(flags) == 2 else copy
    if other is not None:
        dtype, device = other.dtype, other.device
    dtype = meant(dtype)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise ArgumentTypeError(f"to(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    kind = self._array.dtype if dtype is None else dtype.numpy
    if device is not None and not _lies_on(self, kind_of(self._array), where := find(device)):
        moved = transfer(cast(self, kind), where, non_blocking)
    else:
        moved = cast(self, kind, copy)
    return moved if memory_format is None else _in_format(moved, memory_format, moved is not self)


def _in_format(x: Any, memory_format: Any, copied: bool) -> Any:
    """The tensor in a memory format: itself where its strides tell that it is in it, which they do of one channel, too."""
    if memory_format is dtypes.preserve_format:
        return x
    last = {4: dtypes.channels_last, 5: dtypes.channels_last_3d}[x._array.ndim] if channels_last(x._array) else None
    if (last or dtypes.contiguous_format) is memory_format and not (copied and not x.is_contiguous(memory_format)):
        return x
    return x.clone(memory_format=memory_format)


def _converter(kind: Any, title: str) -> Any:
    numpy_type = kind.numpy

    def convert(self: Any, memory_format: Any = None) -> Any:
        result = self if self._array.dtype is numpy_type else cast(self, numpy_type)
        return result if memory_format is None else _in_format(result, memory_format, result is not self)

    convert.__name__, convert.__doc__ = title, f"self.to({kind})."
    return convert


for _title, _kind in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool_, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}.items():  # fmt: skip
    METHODS[_title] = _converter(_kind, _title)
if dtypes.complex32 is not None:
    METHODS["chalf"] = _converter(dtypes.complex32, "chalf")


@method()
def cpu(self: Any, memory_format: Any = None) -> Any:
    """The tensor on the CPU; itself if it is there."""
    return transfer(self, HOST)


def _mover(name: str) -> Any:
    def move(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        where = name if device is None else device if isinstance(device, devices.device) else devices.device(device)
        if device is not None and where.type != name:
            raise EngineError(f"Invalid device, must be {name} device\n{name}() was given {str(where)!r}.")
        return transfer(self, find(where), non_blocking)

    move.__name__, move.__doc__ = name, f"The tensor on a device of kind {name!r}."
    return move


for _name in ("cuda", "xpu", "ipu"):
    METHODS[_name] = _mover(_name)


@method()
def type_as(self: Any, other: Any) -> Any:
    """The tensor in the type of another, where that is."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("type_as", "other", other, 1)
    return transfer(cast(self, other._array.dtype), kind_of(other._array))


# Questions about types -----------------------------------------------------------------------------


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """The type of an operation on the two, tensors or numbers."""
    values = [t._array if isinstance(t, Tensor) else t for t in (tensor1, tensor2)]
    return FROM_NUMPY[dtypes.result_type(values)]


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest type that holds both."""
    type1, type2 = meant(type1), meant(type2)
    for position, kind in enumerate((type1, type2), 1):
        if not isinstance(kind, dtypes.dtype):
            raise ArgumentTypeError(
                f"promote_types(): argument 'type{position}' (position {position}) must be torch.dtype, "
                f"not {kind.__class__.__name__}"
            )
    return FROM_NUMPY[dtypes.promote_pair(type1.numpy, type2.numpy)]


def can_cast(from_: Any, to: Any) -> bool:
    """May values of one type be written to another without changing their kind?"""
    return bool(dtypes.checked(from_).category <= dtypes.checked(to).category)


def cast_number(value: Any, kind: Any) -> Any:
    """A Python number for an array of type `kind`; refuses what cannot be written there."""
    if (kind is f32 or kind is f64) and (type(value) is float or type(value) is int) and -1e38 < value < 1e38:
        return value
    if kind.kind == "b":
        return value
    if kind.kind not in "cW" and isinstance(value, NumpyNumber | complex):
        if value.imag:
            raise overflow(kind)
        value = value.real
    if kind.kind in "iu":
        return _whole(value, kind)
    if kind in LARGEST:
        size = max(abs(value.real), abs(value.imag))
        if size > LARGEST[kind] and size != math.inf:
            raise overflow(kind)
    return value


_limits = functools.cache(iinfo)


def _whole(value: Any, kind: Any) -> int:
    """A number for an array of integers; below zero it may wrap around once."""
    if value - value != 0:  # infinite or NaN
        raise overflow(kind)
    whole, limits = int(value), _limits(kind)
    if limits.min <= value <= limits.max:
        return whole
    if limits.min != 0 or not -limits.max <= whole < 0 or isinstance(value, float):
        raise overflow(kind)
    return int(whole + limits.max + 1)


LARGEST = {f16: 65504.0, bf16: float.fromhex("0x1.FEp127"), f32: float(finfo(f32).max), c64: float(finfo(f32).max)}
_C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int32": "int",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def cast_filling(value: Any, kind: Any, size: int = 1) -> Any:
    """The same for what is filled with it. A single element of half precision is PyTorch's double: what is too large is infinite."""
    return cast_number(value, f64 if size == 1 and kind in HALF else kind)


def check_numbers(tensor: Any, *numbers: Any, exact: bool = False, without: str = "") -> None:
    """Refuses numbers that the type in which a tensor is computed cannot hold: its own, or float32 for half precision (unless
    `exact`). Tensors of the kinds `without` are refused later, for what they are."""
    if not isinstance(tensor, Tensor) or tensor._array.dtype.kind in without:
        return
    kind = tensor._array.dtype
    if kind in HALF and not exact:
        kind = f32
    for number in numbers:
        cast_number(number, kind)


def overflow(kind: Any) -> EngineError:
    """A number does not fit into a type."""
    name = FROM_NUMPY[kind].name
    return EngineError(f"value cannot be converted to type {_C_NAMES.get(name, name + '_t')} without overflow")


for _function in (result_type, promote_types, can_cast):
    FUNCTIONS[_function.__name__] = _function

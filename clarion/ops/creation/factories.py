"""New tensors: zeros, ones, full, empty, their `_like` and `new_` forms, eye."""

from __future__ import annotations

import math
from typing import Any

from ...core import devices, modes
from ...core.devices import HOST, Kind, find, xp_of
from ...core.dtypes import (
    FROM_NUMPY,
    NumpyNumber,
    b1,
    c64,
    c128,
    default_float,
    f64,
    i64,
    int64,
    sparse_coo,
    sparse_csc,
    sparse_csr,
)
from ...core.messages import out_of_memory
from ...core.tensor import Tensor, created, new_tensor
from ...errors import ArgumentTypeError, EngineError, ShapeError
from ...kernels.layout import strided
from ..elementwise.cast import cast_filling
from ..faces.api import FUNCTIONS, METHODS, public
from ..faces.options import (
    allocate,
    allocate_like,
    integer,
    inverse,
    numpy_type,
    one_size,
    out_type,
    place,
    put,
    size_of,
    tensor_argument,
)
from .constants import MANY, fill, full_of
from .uninitialised import filling, known, uninitialised

_host = HOST.xp

# Filled with one value -------------------------------------------------------------------------------


_SPARSE = (sparse_coo, sparse_csr, sparse_csc)


def _make(name: str, fill: Any, args: tuple[Any, ...], options: dict[str, Any], like: Any = None) -> Tensor:
    """zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3)) with all options."""
    if "size" in options:
        args = (*args, options.pop("size"))
    if options.get("layout") in _SPARSE and not fill:
        layout, out = options.pop("layout"), options.pop("out", None)
        if out is not None:
            raise EngineError("layout Sparse does not match layout of out parameter (Strided)")
        size = size_of(name, args)
        return (
            FUNCTIONS["sparse_coo_tensor"](size, **options)
            if layout is sparse_coo
            else _no_entries(name, size, layout, options)
        )
    pin = options.get("pin_memory")
    kind, requires_grad, out, where = take_options(name, options, like)
    shape = size_of(name, args)
    array = _filled(where.xp, shape, fill, kind)
    if pin and out is None and where is HOST:
        array = find("cuda").pinned(new_tensor(array))._array  # there is one, or `take_options` had refused
    return created(array, requires_grad) if out is None else put(name, out, array, requires_grad)


def _no_entries(name: str, size: tuple[int, ...], layout: Any, options: dict[str, Any]) -> Any:
    """Matrices with compressed rows or columns, and nothing in them."""
    if len(size) < 2:
        raise EngineError(
            f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got size {list(size)}"
        )
    *batch, rows, columns = size
    zeros = FUNCTIONS["zeros"]
    begins = zeros(*batch, (rows if layout is sparse_csr else columns) + 1, dtype=int64)
    parts = begins, zeros(*batch, 0, dtype=int64), zeros(*batch, 0, dtype=options.pop("dtype", None))
    return FUNCTIONS["sparse_compressed_tensor"](*parts, size, layout=layout, **options)


def _filled(xp: Any, shape: tuple[int, ...], fill: Any, kind: Any) -> Any:
    """An array full of a number, or with whatever lies in memory (None)."""
    try:
        if fill == 0:
            return xp.zeros(shape, kind)
        if fill is None:
            return uninitialised(xp, shape, kind)
        return full_of(xp, shape, fill, kind)
    except (ValueError, MemoryError) as error:
        raise out_of_memory(error, shape) from None


def take_options(name: str, options: dict[str, Any], like: Any = None) -> tuple[Any, bool, Any, Kind]:
    """dtype, requires_grad, out and the kind of device of a call (that of the array `like` if none is named)."""
    dtype, out = options.pop("dtype", None), options.pop("out", None)
    requires_grad = options.pop("requires_grad", False)
    where, layout, pin = options.pop("device", None), options.pop("layout", None), options.pop("pin_memory", False)
    home = place(name, where, layout, like if out is None else out._array, pin)
    if options:
        raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{next(iter(options))}'")
    kind = numpy_type(name, dtype) if out is None else out_type(name, out, dtype)
    return kind, bool(requires_grad), out, home


@public(method=False)
def zeros(*size: Any, **options: Any) -> Tensor:
    """A tensor of zeros. Options: out, dtype, layout, device, pin_memory, requires_grad."""
    if options or devices.elsewhere:
        return _make("zeros", 0, size, options)
    try:
        array = _host.zeros(size_of("zeros", size), default_float())
    except (ValueError, MemoryError) as error:
        raise out_of_memory(error, size) from None
    return created(array) if modes.special or devices.HALVES else new_tensor(array)


@public(method=False)
def ones(*size: Any, **options: Any) -> Tensor:
    """A tensor of ones. Options: out, dtype, layout, device, pin_memory, requires_grad."""
    if options or devices.elsewhere:
        return _make("ones", 1, size, options)
    try:
        array = _host.empty(size_of("ones", size), default_float())
    except (ValueError, MemoryError) as error:
        raise out_of_memory(error, size) from None
    if array.size < MANY:
        array.fill(1)
    else:
        fill(array, 1)
    return created(array) if modes.special or devices.HALVES else new_tensor(array)


@public(method=False)
def empty(*size: Any, memory_format: Any = None, **options: Any) -> Tensor:
    """A tensor with whatever lies in memory."""
    if memory_format is None:
        if options or devices.elsewhere or filling.on:
            return _make("empty", None, size, options)
        try:
            return created(_host.empty(size_of("empty", size), default_float()))
        except (ValueError, MemoryError) as error:
            raise out_of_memory(error, size) from None
    if "size" in options:
        size = (*size, options.pop("size"))
    kind, requires_grad, _, where = take_options("empty", options)
    return created(allocate(where.xp, size_of("empty", size), kind, memory_format), requires_grad)


@public(method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor filled with one value; without dtype the value's own type."""
    xp = place("full", device, layout, None if out is None else out._array, pin_memory).xp
    shape = one_size("full", size)
    value = fill_number("full", fill_value)
    if out is not None:
        kind = out_type("full", out, dtype)
        return put("full", out, full_of(xp, shape, cast_filling(value, kind, math.prod(shape)), kind), requires_grad)
    kind = _value_kind(value) if dtype is None else numpy_type("full", dtype)
    return created(_filled(xp, shape, cast_filling(value, kind, math.prod(shape)), kind), requires_grad)


def _value_kind(value: Any) -> Any:
    if isinstance(value, complex):
        return c128 if default_float() is f64 else c64
    if isinstance(value, float):
        return default_float()
    return b1 if isinstance(value, bool) else i64


def fill_number(name: str, value: Any) -> Any:
    """A fill value as a Python number."""
    if type(value) in (int, float, bool, complex):
        return value
    if isinstance(value, Tensor) and value._array.ndim == 0 and not value.requires_grad:
        return value.item()
    if isinstance(value, NumpyNumber) and value.dtype in FROM_NUMPY:
        return value.item()
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind(value)
    raise ArgumentTypeError(f"{name}(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}")


@public(method=False)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An uninitialised tensor with given steps between neighbours."""
    xp = place("empty_strided", device, layout, None, pin_memory).xp
    shape, kind = one_size("empty_strided", size), numpy_type("empty_strided", dtype)
    return created(_strided(xp, shape, stride, kind), requires_grad)


def _strided(xp: Any, shape: tuple[int, ...], stride: Any, kind: Any) -> Any:
    steps = tuple(int(step) for step in stride)
    if len(steps) != len(shape):
        raise ShapeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})")
    if any(step < 0 for step in steps):
        raise ShapeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}")
    length = 1 + sum((n - 1) * step for n, step in zip(shape, steps, strict=True)) if all(shape) else 0
    try:
        memory = uninitialised(xp, length, kind)
    except (ValueError, MemoryError) as error:
        raise out_of_memory(error, shape) from None
    return strided(memory, shape, tuple(step * kind.itemsize for step in steps))


@public(method=False)
def empty_permuted(size: Any, physical_layout: Any, **options: Any) -> Tensor:
    """An uninitialised tensor whose dimensions lie in memory in the order `physical_layout`."""
    kind, requires_grad, _, where = take_options("empty_permuted", options)
    shape = one_size("empty_permuted", size)
    order = tuple(int(d) for d in physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise ShapeError(
            f"Number of dimensions in size does not match the length of the physical_layout: {list(order)}"
        )
    array = uninitialised(where.xp, [shape[d] for d in order], kind)
    return created(array.transpose(inverse(order)), requires_grad)


# Like another tensor ---------------------------------------------------------------------------------


def like(
    name: str, input: Any, dtype: Any, layout: Any, device: Any, memory_format: Any, pin_memory: bool = False
) -> Any:
    """An uninitialised array in the shape, type and memory order of a tensor, unless told otherwise."""
    tensor_argument(name, input)
    array = input._array
    xp = place(name, device, layout, array, pin_memory).xp
    return allocate_like(array, array.dtype if dtype is None else numpy_type(name, dtype), memory_format, xp)


@public(method=False)
def zeros_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros in the shape and type of a tensor."""
    if dtype is layout is device is memory_format is None and isinstance(input, Tensor):
        array = input._array
        if array.flags.c_contiguous and not pin_memory and (array.ndim < 4 or 1 not in array.shape):
            return created(xp_of(array).zeros(array.shape, array.dtype), requires_grad)
    array = like("zeros_like", input, dtype, layout, device, memory_format, pin_memory)
    return created(fill(array, 0), requires_grad)


@public(method=False)
def ones_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones in the shape and type of a tensor."""
    array = like("ones_like", input, dtype, layout, device, memory_format, pin_memory)
    return created(fill(array, 1), requires_grad)


@public(method=False)
def empty_like(
    input: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """An uninitialised tensor in the shape and type of a tensor."""
    array = like("empty_like", input, dtype, layout, device, memory_format, pin_memory)
    return created(known(array) if filling.on and filling.wanted else array, requires_grad)


@public(method=False)
def full_like(
    input: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value in the shape and type of a tensor."""
    value = fill_number("full_like", fill_value)
    array = like("full_like", input, dtype, layout, device, memory_format, pin_memory)
    return created(fill(array, cast_filling(value, array.dtype, array.size)), requires_grad)


# Methods that take the type from a tensor ------------------------------------------------------------


def _new(name: str, fill: Any) -> Any:
    def new(self: Tensor, *size: Any, **options: Any) -> Tensor:
        if options.get("dtype") is None:
            options["dtype"] = self.dtype
        return _make(name, fill, size, options, self._array)

    new.__name__ = name
    new.__doc__ = f"Like torch.{name.removeprefix('new_')}, in this tensor's type."
    return new


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Like torch.full, in this tensor's type."""
    kind, requires_grad, _, where = take_options("new_full", {"dtype": dtype or self.dtype, **options}, self._array)
    shape = one_size("new_full", size)
    value = cast_filling(fill_number("new_full", fill_value), kind, math.prod(shape))
    return created(full_of(where.xp, shape, value, kind), requires_grad)


def new_empty_strided(self: Tensor, size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Like torch.empty_strided, in this tensor's type."""
    options["dtype"] = dtype or self.dtype
    kind, requires_grad, _, where = take_options("new_empty_strided", options, self._array)
    return created(_strided(where.xp, one_size("new_empty_strided", size), stride, kind), requires_grad)


for _name, _fill in (("new_zeros", 0), ("new_ones", 1), ("new_empty", None)):
    METHODS[_name] = _new(_name, _fill)
METHODS.update(new_full=new_full, new_empty_strided=new_empty_strided)


@public(method=False)
def scalar_tensor(
    s: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A 0-dim tensor of one number, in the default type."""
    xp = place("scalar_tensor", device, layout, None, pin_memory).xp
    kind = numpy_type("scalar_tensor", dtype)
    value = cast_filling(number("scalar_tensor", "s", 1, s), kind)
    return created(xp.full((), value, kind), requires_grad)


# Evenly spaced numbers -------------------------------------------------------------------------------


@public(method=False)
def eye(
    n: Any,
    m: Any = ...,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    xp = place("eye", device, layout, None if out is None else out._array, pin_memory).xp
    rows = integer("eye", "n", 1, n)
    columns = rows if m is ... else integer("eye", "m", 2, m)
    for name, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise ShapeError(f"{name} must be greater or equal to 0, got {value}")
    kind = numpy_type("eye", dtype) if out is None else out_type("eye", out, dtype)
    array = xp.eye(rows, columns, dtype=kind)
    return created(array, requires_grad) if out is None else put("eye", out, array, requires_grad)


def number(name: str, argument: str, position: int, value: Any, *, grad_ok: bool = False) -> Any:
    """A Python number from a number, a NumPy number or a 0-dim tensor."""
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, Tensor) and value._array.ndim == 0 and (grad_ok or not value.requires_grad):
        return value.item()
    if isinstance(value, (bool, int, float, complex, NumpyNumber)):
        return value.item() if isinstance(value, NumpyNumber) else value
    kind = type(value).__name__
    raise ArgumentTypeError(f"{name}(): argument '{argument}' (position {position}) must be Number, not {kind}")

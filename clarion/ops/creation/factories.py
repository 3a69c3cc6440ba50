"""New tensors: zeros, ones, full, empty, their `_like` and `new_` forms, eye, and evenly spaced numbers."""

from __future__ import annotations

import math
from typing import Any

from ...core import devices, modes
from ...core.devices import HOST, Kind, find, xp_of
from ...core.dtypes import COMPLEX, FROM_NUMPY, NumpyNumber, b1, c64, c128, default_float, f64, i64
from ...core.messages import out_of_memory
from ...core.tensor import Tensor, created, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels import ranges
from ...kernels.layout import strided
from ..elementwise.cast import cast_number
from ..faces.api import METHODS, public
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
    spelled,
    tensor_argument,
    warn_user,
)
from .constants import MANY, fill, full_of
from .uninitialised import filling, known, uninitialised

_host = HOST.xp

# Filled with one value -------------------------------------------------------------------------------


def _make(name: str, fill: Any, args: tuple[Any, ...], options: dict[str, Any], like: Any = None) -> Tensor:
    """zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3)) with all options."""
    if "size" in options:
        args = (*args, options.pop("size"))
    pin = options.get("pin_memory")
    kind, requires_grad, out, where = take_options(name, options, like)
    shape = size_of(name, args)
    array = _filled(where.xp, shape, fill, kind)
    if pin and out is None and where is HOST:
        array = find("cuda").pinned(new_tensor(array))._array  # there is one, or `take_options` had refused
    return created(array, requires_grad) if out is None else put(name, out, array, requires_grad)


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
        return _make("empty", None, size, options)
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
        return put("full", out, full_of(xp, shape, cast_number(value, kind), kind), requires_grad)
    kind = _value_kind(value) if dtype is None else numpy_type("full", dtype)
    return created(_filled(xp, shape, cast_number(value, kind), kind), requires_grad)


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
    return strided(uninitialised(xp, length, kind), shape, tuple(step * kind.itemsize for step in steps))


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
    return created(fill(array, cast_number(value, array.dtype)), requires_grad)


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
    value = cast_number(fill_number("new_full", fill_value), kind)
    return created(full_of(where.xp, one_size("new_full", size), value, kind), requires_grad)


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
    value = cast_number(number("scalar_tensor", "s", 1, s), kind)
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


def _arange_ends(args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    named = {key: options.pop(key) for key in ("start", "end", "step") if key in options}
    keys = ("end",) if len(args) == 1 and "end" not in named else ("start", "end", "step")
    given = dict(zip(keys, args, strict=False))
    if len(args) > 3 or given.keys() & named.keys() or "end" not in {**given, **named}:
        raise ArgumentTypeError(
            f"arange() received an invalid combination of arguments - got {spelled(args, named)}, but expected one of:\n"
            " * (Number end)\n * (Number start, Number end, Number step = 1)"
        )
    given |= named
    return tuple(  # type: ignore[return-value]
        number("arange", key, max(keys.index(key), 0) + 1 if key in keys else 1, given.get(key, default))
        for key, default in (("start", 0), ("end", None), ("step", 1))
    )


@public(method=False)
def arange(*args: Any, **options: Any) -> Tensor:
    """arange(end), arange(start, end, step=1): the numbers in [start, end) with a given step."""
    if not options and len(args) == 1 and type(args[0]) is int and args[0] >= 0 and not devices.elsewhere:
        array = _host.arange(args[0])
        return created(array) if modes.special or devices.HALVES else new_tensor(array)
    if len(options) == len(args) == 1 and "device" in options and type(args[0]) is int and args[0] >= 0:
        array = place("arange", options["device"]).counted(0, 1, args[0], i64)
        if array is not None:
            return created(array)
    return _arange(args, options)


def _arange(args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    start, end, step = _arange_ends(args, options)
    given, out = options.get("dtype"), options.get("out")
    kind, requires_grad, _, where = take_options("arange", options)
    if given is None and out is None:
        kind = default_float() if any(isinstance(v, float) for v in (start, end, step)) else i64
    if any(isinstance(v, complex) for v in (start, end, step)):
        raise DtypeError("value cannot be converted to type double without overflow")
    if kind.kind in "bc":
        raise NotSupportedError(f"\"arange_cpu\" not implemented for '{FROM_NUMPY[kind].old}'")
    if step == 0 or math.isnan(step):
        raise EngineError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise EngineError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise EngineError(
            "upper bound and lower bound inconsistent with step sign\n"
            f"arange() was given start={start}, end={end}, step={step}."
        )
    if kind.kind in "iu":
        if int(step) == 0:
            raise ArgumentValueError(f"step must be nonzero\nThe step {step} is 0 as a {FROM_NUMPY[kind]}.")
        if kind is i64:
            start, end, step = int(start), int(end), int(step)
    count = ranges.arange_length(start, end, step)
    array = None
    if kind.kind in "iu" and type(start) is type(step) is int:
        array = where.counted(start, step, count, kind)
    if array is None:
        array = where.computed((count,), kind, lambda: ranges.arange(start, step, count, kind))
    return created(array, requires_grad) if out is None else put("arange", out, array, requires_grad, warn=True)


@public("range", method=False)
def _range(start: Any, end: Any, step: Any = 1, **options: Any) -> Tensor:
    """The numbers from start to end, the end among them; `arange` leaves it out."""
    start, end = number("range", "start", 1, start), number("range", "end", 2, end)
    step = number("range", "step", 3, step)
    warn_user(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    kind, requires_grad, out, where = take_options("range", options)
    if kind.kind in "iu":
        start, end, step = int(start), int(end), int(step)
    if step == 0 or math.isnan(step):
        raise EngineError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise EngineError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise EngineError("upper bound and lower bound inconsistent with step sign")
    count = int((end - start) / step) + 1
    array = where.computed((count,), kind, lambda: ranges.arange(start, step, count, kind))
    return created(array, requires_grad) if out is None else put("range", out, array, requires_grad)


def _space_options(name: str, start: Any, end: Any, steps: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    ends = []
    for argument, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor) and value._array.ndim:
            raise ShapeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {argument} with "
                f"{value._array.ndim} dimension(s)."
            )
        ends.append(number(name, argument, len(ends) + 1, value, grad_ok=True))
    count = integer(name, "steps", 3, steps)
    if count < 0:
        raise EngineError("number of steps must be non-negative")
    given, out = options.get("dtype"), options.get("out")
    kind, requires_grad, _, where = take_options(name, options)
    if any(isinstance(v, complex) for v in ends) and kind not in COMPLEX:
        inferred = c128 if default_float() is f64 else c64
        if given is not None:
            raise EngineError(
                f"torch.{name}(): inferred dtype c10::complex<{'float' if inferred is c64 else 'double'}> can't be "
                f"safely cast to passed dtype {FROM_NUMPY[kind].old}"
            )
        kind = inferred
    if kind.kind == "b":
        raise NotSupportedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return (*ends, count, kind, requires_grad, out, where)


@public(method=False)
def linspace(start: Any, end: Any, steps: Any, **options: Any) -> Tensor:
    """`steps` numbers from start to end, both included. Options as for zeros."""
    first, last, count, kind, requires_grad, out, where = _space_options("linspace", start, end, steps, options)
    array = where.computed((count,), kind, lambda: ranges.linspace(first, last, count, kind))
    return created(array, requires_grad) if out is None else put("linspace", out, array, requires_grad)


@public(method=False)
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, **options: Any) -> Tensor:
    """base ** each of `steps` numbers from start to end. Options as for zeros."""
    first, last, count, kind, requires_grad, out, where = _space_options("logspace", start, end, steps, options)
    array = where.computed((count,), kind, lambda: ranges.logspace(first, last, count, base, kind))
    return created(array, requires_grad) if out is None else put("logspace", out, array, requires_grad)

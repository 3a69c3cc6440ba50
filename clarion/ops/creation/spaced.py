"""Evenly spaced numbers: arange, range, linspace, logspace."""

from __future__ import annotations

import math
from typing import Any

from ...core import devices, modes
from ...core.devices import HOST
from ...core.dtypes import COMPLEX, FROM_NUMPY, c64, c128, default_float, f64, i64
from ...core.tensor import Tensor, created, new_tensor
from ...errors import ArgumentTypeError, ArgumentValueError, DtypeError, EngineError, NotSupportedError, ShapeError
from ...kernels import ranges
from ..elementwise.cast import cast_number
from ..faces.api import public
from ..faces.options import integer, place, put, spelled, warn_user
from .factories import number, take_options

_host = HOST.xp


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


_WIDE = 1 << 62  # whole numbers that may be added


@public(method=False)
def arange(*args: Any, **options: Any) -> Tensor:
    """arange(end), arange(start, end, step=1): the numbers in [start, end) with a given step."""
    if not options and len(args) == 1 and type(args[0]) is int and args[0] >= 0 and not devices.elsewhere:
        array = _host.arange(args[0])
        return created(array) if modes.special or devices.HALVES else new_tensor(array)
    if not options and 1 < len(args) < 4 and not devices.elsewhere:
        first, last, step = args if len(args) == 3 else (*args, 1)
        if type(first) is type(last) is type(step) is int and -_WIDE < first <= last < _WIDE and 0 < step < _WIDE:
            return created(_host.arange(first, last, step, i64))
    if len(options) == len(args) == 1 and "device" in options and type(args[0]) is int and args[0] >= 0:
        where = place("arange", options["device"])
        array = _host.arange(args[0]) if where is HOST else where.counted(0, 1, args[0], i64)
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
    if count > 2**63 - 1:
        raise EngineError("invalid size, possible overflow?")
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
    if kind.kind == "b" and count > 1:
        raise NotSupportedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    return (*ends, count, kind, requires_grad, out, where)


@public(method=False)
def linspace(start: Any, end: Any, steps: Any, **options: Any) -> Tensor:
    """`steps` numbers from start to end, both included. Options as for zeros."""
    first, last, count, kind, requires_grad, out, where = _space_options("linspace", start, end, steps, options)
    for value in (first, last):
        cast_number(value, kind)
    array = where.computed((count,), kind, lambda: ranges.linspace(first, last, count, kind))
    return created(array, requires_grad) if out is None else put("linspace", out, array, requires_grad)


@public(method=False)
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0, **options: Any) -> Tensor:
    """base ** each of `steps` numbers from start to end. Options as for zeros."""
    first, last, count, kind, requires_grad, out, where = _space_options("logspace", start, end, steps, options)
    array = where.computed((count,), kind, lambda: ranges.logspace(first, last, count, base, kind))
    return created(array, requires_grad) if out is None else put("logspace", out, array, requires_grad)

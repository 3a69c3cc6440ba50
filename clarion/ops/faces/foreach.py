"""`torch._foreach_add(tensors, …)` and its kin: one function for each tensor of a list. Optimizers of libraries use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...errors import EngineError, NotSupportedError
from .api import FUNCTIONS, METHODS

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log",
    "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh",
    "trunc",
)  # fmt: skip
_BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_max", "clamp_min", "pow", "mm")
_TERNARY = ("addcmul", "addcdiv", "lerp")
# A number stands beside the tensors of a list here; the function of one tensor has another name.
_WITH_NUMBER = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _columns(values: Sequence[Any], count: int) -> list[Any]:
    """Arguments for each of `count` tensors: a list has one for each, anything else is for all."""
    lists = []
    for value in values:
        if isinstance(value, (list, tuple)):
            if len(value) != count and (not value or not isinstance(value[0], Tensor)):
                raise EngineError("Tensor list must have same number of elements as scalar list.")
            if len(value) != count:
                raise EngineError(f"Tensor lists must have the same number of tensors, got {count} and {len(value)}")
            lists.append(value)
        elif isinstance(value, Tensor) and value._array.ndim == 1 and value._array.size == count != 1:
            lists.append(value.tolist())  # type: ignore[attr-defined]
        else:
            lists.append([value] * count)
    return list(zip(*lists, strict=True)) if lists else [()] * count


def _numbers(values: Tensor, count: int) -> list[Any]:
    """What a tensor of numbers, one for each of `count` tensors, holds."""
    if values._array.shape != (count,):
        if values._array.ndim != 1:
            raise EngineError(f"Expected packed scalar Tensor to be of dimension 1. Got {values._array.ndim} instead.")
        raise EngineError(
            f"Expected length of scalars to match input of length {count} but got {values._array.size} instead."
        )
    return values.tolist()  # type: ignore[attr-defined, no-any-return]


def _each(name: str, in_place: bool) -> Callable[..., Any]:
    """The function of lists for a method of a tensor."""

    scaled = name in ("addcmul", "addcdiv")

    def run(tensor: Any, row: tuple[Any, ...], options: dict[str, Any]) -> Any:
        beside = row and (not isinstance(row[0], Tensor) or tensor.is_complex())  # which both refuse, in other words
        chosen = _WITH_NUMBER.get(name, name) if beside else name
        if scaled and len(row) == 3:
            *row, options["value"] = row  # type: ignore[assignment]
        return METHODS[chosen + "_" * in_place](tensor, *row, **options)

    def foreach(self: Sequence[Any], *args: Any, **options: Any) -> Any:
        if not self:
            raise EngineError("Tensor list must have at least one tensor.")
        if "scalars" in options:
            args = (*args, options.pop("scalars"))
        if scaled and len(args) == 3 and isinstance(args[2], Tensor):
            args = (*args[:2], _numbers(args[2], len(self)))
        rows = _columns(args, len(self))
        results = [run(tensor, row, dict(options)) for tensor, row in zip(self, rows, strict=True)]
        return self if in_place else tuple(results)

    return foreach


def _powers(self: Any, exponent: Any) -> Any:
    """Powers of one number, or of each tensor."""
    if isinstance(self, (list, tuple)):
        return _each("pow", False)(self, exponent)
    return tuple(FUNCTIONS["pow"](self, each) for each in exponent)


def _norms(self: Sequence[Any], ord: Any = 2, dtype: Any = None) -> Any:
    """The norm of each tensor."""
    norm = FUNCTIONS["norm"]
    return tuple(norm(each, ord, dtype=dtype) for each in self)


def _sums_of_powers(self: Sequence[Any], ord: Any = 2, dtype: Any = None) -> Any:
    """The sum of the sizes of each tensor's elements, raised to a power."""
    if any(not (each.is_floating_point() or each.is_complex()) for each in self):
        kind = next(each.dtype.old for each in self if not (each.is_floating_point() or each.is_complex()))
        raise NotSupportedError(f"\"powsum_cpu\" not implemented for '{kind}'")
    return tuple((each.to(dtype or each.dtype).abs() ** ord).sum() for each in self)


def _max(self: Sequence[Any]) -> Any:
    """The largest element of each tensor."""
    return tuple(each.max() for each in self)


def _larger_or_smaller_(name: str) -> Any:
    """`maximum` or `minimum` in place: no method of a tensor does that."""
    choose, beside_number = _each(name, False), _each(_WITH_NUMBER[name], True)

    def foreach(self: Sequence[Any], other: Any) -> Any:
        first = other[0] if isinstance(other, (list, tuple)) and other else other
        return _copy_(self, choose(self, other)) if isinstance(first, (Tensor, list)) else beside_number(self, other)

    foreach.__name__ = foreach.__qualname__ = f"_foreach_{name}_"
    foreach.__doc__ = f"`{name}` of each tensor of a list, in place."
    return foreach


def _clone(self: Sequence[Any], *, memory_format: Any = None) -> Any:
    """A copy of each tensor."""
    return tuple(each.clone(memory_format=memory_format) for each in self)


def _zero_(self: Sequence[Any]) -> Any:
    """Write zeros into each tensor."""
    for each in self:
        each.zero_()
    return self


def _copy_(self: Sequence[Any], src: Sequence[Any], non_blocking: bool = False) -> Any:
    """Write each tensor of the second list into that of the first."""
    for target, (source,) in zip(self, _columns([src], len(self)), strict=True):
        target.copy_(source)
    return self


def register() -> None:
    """Make all of them functions of `torch`."""
    for name in (*_UNARY, *_BINARY, *_TERNARY):
        for in_place in (False, True):
            if name + "_" * in_place not in METHODS:
                continue
            function = _each(name, in_place)
            function.__name__ = function.__qualname__ = f"_foreach_{name}" + "_" * in_place
            function.__doc__ = f"`{name}` of each tensor of a list" + (", in place." if in_place else ".")
            FUNCTIONS[function.__name__] = function
    FUNCTIONS.replace("_foreach_pow", _powers)
    FUNCTIONS.update(_foreach_maximum_=_larger_or_smaller_("maximum"), _foreach_minimum_=_larger_or_smaller_("minimum"))
    FUNCTIONS.update(_foreach_norm=_norms, _foreach_max=_max, _foreach_zero_=_zero_, _foreach_copy_=_copy_)
    FUNCTIONS.update(_foreach_clone=_clone, _foreach_powsum=_sums_of_powers)

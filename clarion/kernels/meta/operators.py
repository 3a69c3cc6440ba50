"""Operators and methods of arrays without memory, by the rules of the namespace."""

from __future__ import annotations

from typing import Any

import numpy

from .array import MetaArray
from .namespace import shape_of, xp

_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "divmod": "divmod", "pow": "power", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul",
}  # fmt: skip
_COMPARISONS = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal", "ne": "not_equal",
}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_METHODS = (
    "sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "argsort", "cumsum", "cumprod",
    "clip", "round", "take", "dot", "conj", "conjugate", "repeat", "searchsorted",
)  # fmt: skip


def _understood(value: Any) -> bool:
    return isinstance(value, (MetaArray, numpy.ndarray, numpy.generic, int, float, complex))


def _operator(name: str, reflected: bool = False) -> Any:
    def operator(self: Any, other: Any) -> Any:
        if not _understood(other):
            return NotImplemented
        return getattr(xp, name)(other, self) if reflected else getattr(xp, name)(self, other)

    return operator


def _in_place(self: Any, other: Any) -> Any:
    if numpy.broadcast_shapes(self.shape, shape_of(other)) != self.shape:
        raise ValueError(f"non-broadcastable output operand with shape {self.shape}")
    return self


def _method(name: str) -> Any:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(xp, name)(self, *args, **options)

    method.__name__ = name
    return method


for _name, _function in _BINARY.items():
    setattr(MetaArray, f"__{_name}__", _operator(_function))
    setattr(MetaArray, f"__r{_name}__", _operator(_function, reflected=True))
    setattr(MetaArray, f"__i{_name}__", _in_place)
for _name, _function in _COMPARISONS.items():
    setattr(MetaArray, f"__{_name}__", _operator(_function))
for _name, _function in _UNARY.items():
    setattr(MetaArray, f"__{_name}__", _method(_function))
for _name in _METHODS:
    setattr(MetaArray, _name, _method(_name))

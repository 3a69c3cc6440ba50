"""Functions of two tensors, element by element: two masked tensors must have the same mask."""

from __future__ import annotations

from ..._ops import ops

BINARY_NAMES = [
    "add",
    "atan2",
    "arctan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "div",
    "divide",
    "floor_divide",
    "fmod",
    "logaddexp",
    "logaddexp2",
    "mul",
    "multiply",
    "nextafter",
    "remainder",
    "sub",
    "subtract",
    "true_divide",
    "eq",
    "ne",
    "le",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "less_equal",
    "lt",
    "less",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "not_equal",
]
_ONLY_NEW = ("logaddexp", "logaddexp2", "fmin", "minimum", "maximum", "fmax")
INPLACE_BINARY_NAMES = [f"{name}_" for name in BINARY_NAMES if name not in _ONLY_NEW]

NATIVE_BINARY_FNS = [getattr(ops.aten, name) for name in BINARY_NAMES]
NATIVE_INPLACE_BINARY_FNS = [getattr(ops.aten, name) for name in INPLACE_BINARY_NAMES]

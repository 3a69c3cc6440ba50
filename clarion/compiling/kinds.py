"""Kinds of values that a function can read (watching.py): those that are compared, those that stay as they are, those that nobody watches."""

from __future__ import annotations

import enum
import types
from collections import namedtuple
from typing import Any

import numpy as np

from ..core.devices import device
from ..core.dtypes import Size, dtype
from ..ops.random.generator import Generator

VALUES = (
    bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, range, dtype, device, Size, enum.Enum, np.dtype, np.generic,
)  # fmt: skip
FUNCTIONS = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.MethodDescriptorType,
    np.ufunc,
    type(np.sum),
    property,
    types.GenericAlias,
    types.MemberDescriptorType,
    type(namedtuple("Pair", "first").first),
    Generator,
)
# Switches and counters of clarion's own that are not among the conditions.
NOT_WATCHED = frozenset(
    """_version get_num_threads get_num_interop_threads get_default_device get_float32_matmul_precision is_autocast_enabled
    is_autocast_cpu_enabled get_autocast_dtype are_deterministic_algorithms_enabled is_anomaly_enabled""".split()  # noqa: SIM905
)


class Unwatchable(Exception):
    """Something that cannot be compared with what it was."""


def refuse_chance(value: Any, about: str) -> None:
    """NumPy's random numbers are not drawn by anything that is recorded."""
    owner = getattr(value, "__self__", None)
    kinds = (getattr(value, "__module__", None) or "", type(owner).__module__ or "", type(value).__module__ or "")
    if callable(value) and any(kind.startswith(("numpy.random", "_random", "random")) for kind in kinds):
        raise Unwatchable(f"{about} gives something else each time")

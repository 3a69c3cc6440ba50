"""Functions that are strict about the tensor given as `out=`: its type, and where it lies."""

from __future__ import annotations

import functools
from typing import Any

from ...core.devices import xp_of
from ...core.dtypes import FROM_NUMPY, i64
from ...core.tensor import Tensor
from ...errors import DtypeError, EngineError
from ...kernels.random import torch_names
from .api import FUNCTIONS


def strict_out(*names: str, apart: bool = False, alike: bool = False, any_type: bool = False) -> None:
    """Functions whose `out` must have the type of the input, and lie `apart` from it in memory.

    A second `out` is one of indices (int64), or with `alike` of the type of the input, too.
    """
    for name in names:
        FUNCTIONS.replace(name, _strict(FUNCTIONS[name], apart, alike, any_type))


def _strict(function: Any, apart: bool, alike: bool, any_type: bool) -> Any:
    plain = function.__wrapped__

    @functools.wraps(function)
    def checked(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return function(*args, **kwargs) if kwargs else plain(*args)
        source = args[0] if args else kwargs.get("input")
        kind = getattr(source, "dtype", None)
        targets = out if isinstance(out, (tuple, list)) else (out,)
        for target, wanted in zip(targets, (kind, kind if alike else FROM_NUMPY[i64]), strict=False):
            if isinstance(target, Tensor) and target.dtype is not wanted and not any_type:
                have, want = (torch_names(d.numpy)[1] for d in (target.dtype, wanted))
                raise DtypeError(f"Expected out tensor to have dtype {want}, but got {have} instead")
            if apart and _overlaps(args, target):
                raise EngineError(
                    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )
        return function(*args, out=out, **kwargs)

    return checked


def _overlaps(values: Any, target: Any) -> bool:
    """Does any tensor among arguments share memory with `target`?"""
    if isinstance(values, (tuple, list)):
        return any(_overlaps(value, target) for value in values)
    return isinstance(values, Tensor) and xp_of(target._array).may_share_memory(values._array, target._array)

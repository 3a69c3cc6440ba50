"""The autocast region, and custom Functions inside one."""

from __future__ import annotations

import collections.abc
import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd import retrace
from ..core.devices import device, is_available
from ..core.dtypes import bfloat16, dtype, float16, float64
from ..core.tensor import Tensor
from ..errors import ArgumentTypeError, ArgumentValueError
from . import settings
from .settings import known_device
from .state import DEVICES


def is_autocast_available(device_type: str) -> bool:
    """Does autocast know this kind of device?"""
    return device(device_type).type in DEVICES


class autocast:
    """autocast(device_type, dtype=None, enabled=True, cache_enabled=None): a context manager, or a decorator.

    Inside, products are computed in the lower precision `dtype`, losses and decompositions in float32 (lists.py); nothing
    else changes. Gradients arrive in the types of the tensors they are for.
    """

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ArgumentValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = known_device(device_type)
        self.fast_dtype = settings.get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = settings.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and self.device == "cuda" and not is_available("cuda"):
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.device == "cpu" and self.fast_dtype not in (bfloat16, float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: list[tuple[bool, Any, bool]] = []

    def __enter__(self) -> autocast:
        device = self.device
        self._before.append(
            (
                settings.is_autocast_enabled(device),
                settings.get_autocast_dtype(device),
                settings.is_autocast_cache_enabled(),
            )
        )
        settings.set_autocast_enabled(device, self._enabled)
        settings.set_autocast_dtype(device, self.fast_dtype)
        settings.autocast_increment_nesting()
        settings.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        enabled, before, cached = self._before.pop()
        if settings.autocast_decrement_nesting() == 0:
            settings.clear_autocast_cache()
        settings.set_autocast_enabled(self.device, enabled)
        settings.set_autocast_dtype(self.device, before)
        settings.set_autocast_cache_enabled(cached)
        return False

    def __call__(self, func: Any) -> Any:
        if not callable(func):
            raise ArgumentTypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. "
                "Did you mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n        output = model(input)"
            )

        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return inside


class _AsItIs:
    """A region with the settings of this thread, for a checkpoint that is run again in backward: perhaps several times."""

    def __init__(self) -> None:
        cached = settings.is_autocast_cache_enabled()
        asked = [
            (each, settings.get_autocast_dtype(each), settings.is_autocast_enabled(each)) for each in settings.CASTING
        ]
        self._regions = [autocast(device, kind, on, cached) for device, kind, on in asked if on or device == "cpu"]

    def __enter__(self) -> None:
        for region in self._regions:
            region.__enter__()

    def __exit__(self, *error: Any) -> None:
        for region in reversed(self._regions):
            region.__exit__(*error)


retrace.remembered.append(_AsItIs)


# Custom Functions ------------------------------------------------------------------------------------


def _cast(value: Any, device_type: str, wanted: dtype) -> Any:
    """Floating tensors (float64 excepted) of a device in another type, through containers."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype is not float64
        return value.to(wanted) if fits else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, collections.abc.Mapping):
        return {_cast(k, device_type, wanted): _cast(v, device_type, wanted) for k, v in value.items()}
    if isinstance(value, collections.abc.Iterable):
        cast = (_cast(v, device_type, wanted) for v in value)
        return type(value)(cast) if isinstance(value, (list, tuple)) else cast  # type: ignore[call-arg]
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtype | None = None
) -> Callable[..., Any]:
    """Decorator for `forward` of a custom Function: it remembers whether autocast was on.

    With `cast_inputs`, floating inputs are cast to it and forward runs with autocast off.
    """
    if not isinstance(device_type, str):
        raise ArgumentValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = settings.get_autocast_dtype(device_type)
        on = settings.is_autocast_enabled(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = on
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        if not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorator for `backward` of a custom Function: it runs with autocast as forward did."""
    if not isinstance(device_type, str):
        raise ArgumentValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward

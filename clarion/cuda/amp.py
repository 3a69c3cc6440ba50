"""`torch.cuda.amp`, the older spelling of `torch.amp` for CUDA devices."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from .. import amp
from ..core.dtypes import dtype, float16

__path__: list[str] = []  # PyTorch has modules below it (see elsewhere.py)


def _old(name: str, instead: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}` is deprecated. Please use `torch.amp.{instead}` instead.", FutureWarning, stacklevel=3
    )


class autocast(amp.autocast):
    """torch.amp.autocast("cuda", …)."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        _old("autocast(args...)", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda", …)."""

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _old("GradScaler(args...)", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: dtype | None = None) -> Any:
    """torch.amp.custom_fwd with device_type="cuda"."""
    _old("custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_fwd, device_type="cuda")(fwd=fwd, cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """torch.amp.custom_bwd with device_type="cuda"."""
    _old("custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return functools.partial(amp.custom_bwd, device_type="cuda")(bwd=bwd)

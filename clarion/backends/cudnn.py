"""`torch.backends.cudnn`: NVIDIA's library of layers, which computes convolutions and recurrent layers on a GPU."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..absent import rest
from ..core import devices
from ..kernels import precision
from .switches import Precision, switches

enabled, benchmark, deterministic, allow_tf32 = True, False, False, True
benchmark_limit = None
fp32_precision, depthwise_kernel = "none", "auto"
conv, rnn = Precision(), Precision()
set_flags, flags = switches(
    __name__,
    enabled=False,
    benchmark=False,
    benchmark_limit=None,
    deterministic=False,
    allow_tf32=True,
    fp32_precision="none",
    depthwise_kernel="auto",
)


class _Switches(ModuleType):
    """The one switch that changes something has to be heard of."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "allow_tf32":
            precision.layers = bool(value)


sys.modules[__name__].__class__ = _Switches


def version() -> int | None:
    """The version of the library; None where it is not there."""
    if not devices.is_available("cuda"):
        return None
    from ..kernels.cuda.libraries import library

    try:
        return int(library("cudnn").cudnnGetVersion())
    except OSError:
        return None


def is_available() -> bool:
    """Is it there?"""
    return version() is not None


def is_acceptable(tensor: Any) -> bool:
    """Is it for this tensor?"""
    return bool(tensor.is_cuda and tensor.dtype.is_floating_point and is_available())


__getattr__ = rest(__name__)

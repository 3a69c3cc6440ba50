"""`torch.backends.cudnn`: NVIDIA's library of layers, which clarion does not use."""

from __future__ import annotations

from ..absent import rest
from .switches import Precision, no, switches

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
is_available = is_acceptable = no


def version() -> None:
    """There is no version of what is not there."""


__getattr__ = rest(__name__)

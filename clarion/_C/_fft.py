"""`torch._C._fft`: functions of `torch.fft` under their compiled names."""

from __future__ import annotations

from typing import Any

from .. import fft as _public


def __getattr__(name: str) -> Any:
    return getattr(_public, name.removeprefix("fft_"))

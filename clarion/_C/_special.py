"""`torch._C._special`: functions of `torch.special` under their compiled names."""

from __future__ import annotations

from typing import Any

from .. import special as _public


def __getattr__(name: str) -> Any:
    return getattr(_public, name.removeprefix("special_"))

"""`torch._C._linalg`: functions of `torch.linalg` under their compiled names."""

from __future__ import annotations

from typing import Any

from .. import linalg as _public


def __getattr__(name: str) -> Any:
    return getattr(_public, name.removeprefix("linalg_"))

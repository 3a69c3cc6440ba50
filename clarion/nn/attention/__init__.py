"""`torch.nn.attention`: which way attention is computed. There is one way here, whatever is chosen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import Enum
from typing import Any

from ...absent import rest


class SDPBackend(Enum):
    """PyTorch's ways to compute attention. They give the same numbers but for rounding."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_allowed: list[SDPBackend] = [
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.CUDNN_ATTENTION,
]


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[str, Any]]:
    """Choose ways to compute attention inside the block: it is noted, and computed in the one way there is."""
    global _allowed
    chosen = [backends] if isinstance(backends, SDPBackend) else list(backends)
    if not all(isinstance(each, SDPBackend) for each in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")
    before, _allowed = _allowed, list(dict.fromkeys(chosen))
    try:
        yield {}
    finally:
        _allowed = before


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(_allowed)


__getattr__ = rest(__name__)

"""Where arrays lie in memory, asked a dozen times per call of a compiled loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from .api import DATA

_word = ctypes.c_size_t.from_address


def _told(x: Any) -> int:
    place: int = x.__array_interface__["data"][0]
    return place


def _read(x: Any) -> int:
    """Out of the array itself: a fifth of the time."""
    place: int = _word(id(x) + DATA).value
    return place


_some = np.zeros(3)[1:]
address: Callable[[Any], int] = _read if object.__basicsize__ == 16 and _read(_some) == _told(_some) else _told

"""The largest and the smallest of few numbers: to find its place takes half as long as a reduction."""

from __future__ import annotations

from typing import Any

from ..blocks import SMALL
from ..registry import offer


@offer("max_all", "numpy")
def _max_all(x: Any) -> Any:
    return x.reshape(-1)[x.argmax()] if 0 < x.size <= SMALL and x.flags.c_contiguous else x.max()


@offer("min_all", "numpy")
def _min_all(x: Any) -> Any:
    return x.reshape(-1)[x.argmin()] if 0 < x.size <= SMALL and x.flags.c_contiguous else x.min()

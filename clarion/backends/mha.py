"""`torch.backends.mha`: the fused path of attention layers. It decides what becomes of padding (NOTE [Packed])."""

from __future__ import annotations

from ..ops.layers import multihead


def get_fastpath_enabled() -> bool:
    """Was the switch left on?"""
    return multihead.fast


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch."""
    multihead.fast = value

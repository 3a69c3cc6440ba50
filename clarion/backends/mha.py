"""`torch.backends.mha`: the fused path of attention layers. Here there is one path; the switch is kept."""

from __future__ import annotations

_fast = True


def get_fastpath_enabled() -> bool:
    """Was the switch left on?"""
    return _fast


def set_fastpath_enabled(value: bool) -> None:
    """Set the switch."""
    global _fast
    _fast = value

"""`torch._guards`: what is being traced. Nothing is."""

from __future__ import annotations


def active_fake_mode() -> None:
    """The mode in which tensors have no data: there is none."""


detect_fake_mode = active_fake_mode

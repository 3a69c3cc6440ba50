"""`torch._inductor`: settings of a compiler of kernels that is not there."""

from __future__ import annotations

from . import config as config


def cudagraph_mark_step_begin() -> None:
    """A mark between steps for a compiler that keeps results of the last one; ours do not share memory."""


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, object]:
    """What a mode of `torch.compile` sets: nothing here."""
    return {}

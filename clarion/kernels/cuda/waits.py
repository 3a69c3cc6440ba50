"""Where the host waits for the GPU: `torch.cuda.set_sync_debug_mode` has that said, or refused."""

from __future__ import annotations

import warnings

NAMES = ("default", "warn", "error")
mode = 0


def noticed() -> None:
    """The host is about to wait for a value."""
    if mode == 2:
        raise RuntimeError("called a synchronizing CUDA operation")
    warnings.warn("called a synchronizing CUDA operation", UserWarning, stacklevel=4)

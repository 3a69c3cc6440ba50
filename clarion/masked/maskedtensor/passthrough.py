"""Functions that move elements: they move masks alike."""

from __future__ import annotations

from ..._ops import ops

PASSTHROUGH_FNS = [
    getattr(ops.aten, name)
    for name in ("select", "transpose", "split", "t", "expand", "view", "cat", "unsqueeze", "unfold", "stack")
]

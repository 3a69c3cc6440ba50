"""`torch.fx._symbolic_trace`: questions to the tracer, which never runs."""

from __future__ import annotations

from . import wrap as wrap


def is_fx_tracing() -> bool:
    """Is this code being traced? No."""
    return False


def is_fx_symbolic_tracing() -> bool:
    """Is this code being traced with symbols? No."""
    return False

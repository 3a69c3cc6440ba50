"""Reductions that masked tensors have."""

from __future__ import annotations

REDUCE_NAMES = ["sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std"]

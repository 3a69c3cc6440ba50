"""Kernels: raw arrays only, no Tensor and no gradient."""

from __future__ import annotations

from .memory import keep_memory

keep_memory()

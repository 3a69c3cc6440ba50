"""`torch._dynamo.utils`: questions about compiled code."""

from __future__ import annotations

from collections import Counter, defaultdict

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def is_compile_supported(device_type: str) -> bool:
    """Can code be compiled for this device?"""
    return device_type == "cpu"

"""`torch.backends.cpu`: what the processor can do."""

from __future__ import annotations


def get_cpu_capability() -> str:
    """The widest instructions there are: "AVX512", "AVX2" or "DEFAULT"."""
    from numpy._core._multiarray_umath import __cpu_features__ as features

    return "AVX512" if features.get("AVX512F") else "AVX2" if features.get("AVX2") else "DEFAULT"

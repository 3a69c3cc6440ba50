"""`torch.onnx`: models are not exported; the question whether one is being exported is answered."""

from __future__ import annotations

from ..absent import rest


def is_in_onnx_export() -> bool:
    """Is a model being exported? No."""
    return False


__getattr__ = rest(__name__)

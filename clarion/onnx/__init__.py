"""`torch.onnx`: models are not exported; the question whether one is being exported is answered."""

from __future__ import annotations

from typing import Any

from ..absent import rest


def is_in_onnx_export() -> bool:
    """Is a model being exported? No."""
    return False


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Any, opset_version: int, custom_opsets: Any = None
) -> None:
    """How an operation would be exported: nobody asks."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nobody asks."""


__getattr__ = rest(__name__)

"""`torch.backends`: what programs ask and set about PyTorch's compiled libraries, none of which is here."""

from __future__ import annotations

import importlib
from typing import Any

from ..absent import rest

fp32_precision = "none"
_MODULES = frozenset(
    [
        "cpu",
        "cuda",
        "cudnn",
        "cusparselt",
        "kleidiai",
        "mha",
        "miopen",
        "mkl",
        "mkldnn",
        "mps",
        "nnpack",
        "openmp",
        "opt_einsum",
        "quantized",
    ]
)
_rest = rest(__name__)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}") if name in _MODULES else _rest(name)

"""`torch.backends.cuda`: choices between NVIDIA's libraries. There is one way to compute attention and products here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from ..absent import rest
from ..core import devices
from ..errors import EngineError
from ..ops.faces.api import FUNCTIONS
from .switches import Precision, no

is_flash_attention_available = is_ck_sdpa_available = no
can_use_flash_attention = can_use_efficient_attention = can_use_cudnn_attention = no
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduction_math": False}


def is_built() -> bool:
    """Can anything be computed on a GPU of NVIDIA's here?"""
    return devices.is_available("cuda")


class cuBLASModule(Precision):
    """Switches of matrix products on a GPU."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        """Are products of float32 computed by tensor cores?"""
        return FUNCTIONS["get_float32_matmul_precision"]() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        FUNCTIONS["set_float32_matmul_precision"]("high" if allowed else "highest")


matmul = cuBLASModule()


def _asking(name: str) -> Callable[[], bool]:
    return lambda: _attention[name]


def _setting(name: str) -> Callable[[bool], None]:
    return lambda enabled: _attention.__setitem__(name, bool(enabled))


flash_sdp_enabled, enable_flash_sdp = _asking("flash"), _setting("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _asking("mem_efficient"), _setting("mem_efficient")
math_sdp_enabled, enable_math_sdp = _asking("math"), _setting("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _asking("cudnn"), _setting("cudnn")
fp16_bf16_reduction_math_sdp_allowed = _asking("reduction_math")
allow_fp16_bf16_reduction_math_sdp = _setting("reduction_math")


class _LinalgBackend(Enum):
    """Libraries for linear algebra on a GPU."""

    Default = 0
    Cusolver = 1
    Magma = 2


class _BlasBackend(Enum):
    """Libraries for products on a GPU."""

    Default = 0
    Cublas = 1
    Cublaslt = 2


def _preferred(known: tuple[str, ...], used: Enum) -> Callable[..., Enum]:
    def prefer(backend: Any = None) -> Enum:
        """Which library is used; there is one, and no other can be preferred."""
        name = backend.name.lower() if isinstance(backend, Enum) else backend
        if name is not None and name not in known:
            raise EngineError(f"Unknown input value. Choose from: {', '.join(known)}.")
        if name not in (None, "default", used.name.lower()):
            raise EngineError(f"Cannot set preferred backend to {name}: clarion uses one library for this.")
        return used

    return prefer


preferred_linalg_library = _preferred(("default", "cusolver", "magma"), _LinalgBackend.Default)
preferred_blas_library = _preferred(
    ("default", "cublas", "hipblas", "cublaslt", "hipblaslt", "ck"), _BlasBackend.Cublas
)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[dict[str, Any]]:
    """Ways to compute attention inside the block, of which one is used; the old form of `torch.nn.attention.sdpa_kernel`."""
    before = dict(_attention)
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _attention.update(before)


__getattr__ = rest(__name__)

"""`torch.backends.cuda`: choices between NVIDIA's libraries. There is one way to compute attention and products here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..absent import rest
from .switches import Precision, no

is_built = is_flash_attention_available = is_ck_sdpa_available = no
can_use_flash_attention = can_use_efficient_attention = can_use_cudnn_attention = no
_attention = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True, "reduction_math": False}


class cuBLASModule(Precision):
    """Switches of matrix products on a GPU."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False


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

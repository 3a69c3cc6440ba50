"""`LinearCrossEntropyOptions`: how PyTorch cuts the batch of `linear_cross_entropy` into pieces."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from ...core.dtypes import bfloat16, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Looked at, and without effect: all scores are computed at once here, in the type of the input."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method, size = self.chunking_method, self.batch_chunk_size
        if method not in (None, "auto") and not re.fullmatch(r"aspect_ratio(:0*[1-9]\d*)?", str(method)):
            raise ValueError(f"invalid chunking_method: {method!r}")
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, "
                f"got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

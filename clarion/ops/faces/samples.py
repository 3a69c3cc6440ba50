"""Faces that must read values, under `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor, created, new_tensor


def each_sample(face: Callable[..., Any], *tensors: Tensor) -> Tensor:
    """What `face` gives for one sample after the other, side by side. It is not recorded."""
    from ...kernels.batched.array import one_by_one  # who meets no batch loads nothing of it

    def run(*arrays: Any) -> Any:
        return face(*map(new_tensor, arrays))._array

    return created(one_by_one(run, tuple([x._array for x in tensors])))

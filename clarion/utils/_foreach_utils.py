"""`torch.utils._foreach_utils`: lists of tensors in groups that one operation can take together."""

from __future__ import annotations

from typing import Any

from ..optim.grouping import Indices as Indices
from ..optim.grouping import TensorListList as TensorListList
from ..optim.grouping import by_device_and_dtype as _group_tensors_by_device_and_dtype  # noqa: F401


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Devices on which lists of tensors have kernels of their own."""
    return ["cuda"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Devices on which an optimizer's step is one kernel."""
    return ["cuda", "cpu"]


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: list[Any], device: Any) -> bool:
    return _device_has_foreach_support(device) and all(tensor is None or tensor.device == device for tensor in tensors)

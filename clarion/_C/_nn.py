"""`torch._C._nn`: functions of layers under their compiled names."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import dtype as _dtype
from ..core.tensor import Tensor
from ..nn import functional as _functional
from ..ops.faces.api import FUNCTIONS
from ..ops.faces.aten import FORMS


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The arguments of `Module.to`: device, type, non_blocking, memory format."""
    from ..core.devices import device as _device

    device, kind = kwargs.get("device"), kwargs.get("dtype")
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        source = rest.pop(0)
        device, kind = source.device, source.dtype
    elif rest and not isinstance(rest[0], _dtype):
        device = rest.pop(0)
    if rest and isinstance(rest[0], _dtype | None):
        kind = rest.pop(0)
    device = None if device is None else _device(device)
    return device, kind, bool(rest[0]) if rest else kwargs.get("non_blocking", False), kwargs.get("memory_format")


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    if name in FORMS:
        return FORMS[name]
    return getattr(_functional, "nll_loss" if name == "nll_loss2d" else name)

"""Making a module without drawing its initial values."""

from __future__ import annotations

import inspect
from typing import Any

from ...errors import EngineError
from ..modules.module import Module


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters have any values; no random numbers are used up."""
    if not (inspect.isclass(module_cls) and issubclass(module_cls, Module)):
        raise EngineError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise EngineError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)

"""`torch.nn.utils._named_member_accessor`: parameters and buffers exchanged by name."""

from __future__ import annotations

from typing import Any

from ..modules.module import Module
from ..parameter import Parameter

_MISSING: Any = object()


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of a parameter, buffer or attribute of a module; gives what was there."""
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    for table in (module._parameters, module._buffers):
        if name in table:
            before = table[name]
            if tensor is _MISSING:
                del table[name]
            else:
                table[name] = tensor
            return before
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if tensor is _MISSING:
        if before is not _MISSING:
            delattr(module, name)
    elif isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        setattr(module, name, tensor)
    return before

"""`torch.utils.hooks`: what every `register_…hook` returns, and hooks that are not to be pickled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..core.hooks import RemovableHandle as RemovableHandle

Hook = Callable[..., Any]


def unserializable_hook(f: Hook) -> Hook:
    """Mark a hook: a tensor that has it says so when it is pickled."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Say that hooks are not pickled, unless they are marked so."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )

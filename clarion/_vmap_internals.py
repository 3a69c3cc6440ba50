"""`torch._vmap_internals`: the first `vmap`, under whose name libraries still call it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from .func import vmap as _newer


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """`torch.vmap` without its settings."""
    return _newer(func, in_dims, out_dims)


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0) -> Callable[..., Any]:
    """The same, which says that `torch.vmap` has taken its place."""
    text = "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return _vmap(func, in_dims, out_dims)

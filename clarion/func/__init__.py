"""`torch.func`: derivatives of functions as functions, and functions of one sample as functions of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from ..core import modes
from ..errors import EngineError, NotSupportedError
from .jacobians import hessian as hessian
from .jacobians import jacfwd as jacfwd
from .jacobians import jacrev as jacrev
from .mapping import vmap as vmap
from .modules import functional_call as functional_call
from .modules import replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_
from .modules import stack_module_state as stack_module_state
from .transforms import grad as grad
from .transforms import grad_and_value as grad_and_value
from .transforms import jvp as jvp
from .transforms import linearize as linearize
from .transforms import vjp as vjp

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The tensor itself: transforms do not wrap tensors here."""
    return tensor


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """The function as it is: how it comes to its results can only be seen by who traces it, and nothing is traced here."""
    if remove not in ("mutations", "mutations_and_views"):
        raise EngineError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program\n"
            "     remove='mutations_and_views': all inplace, out=, and view operators will be removed"
        )

    @functools.wraps(func)
    def same(*args: Any, **kwargs: Any) -> Any:
        modes.state.transforms += 1
        try:
            return func(*args, **kwargs)
        finally:
            modes.state.transforms -= 1

    return same


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> NoReturn:
    """Not there."""
    raise NotSupportedError("clarion does not have torch.func.rearrange: use reshape, permute and flatten")

"""`torch.func`: derivatives of functions as functions, and functions of one sample as functions of a batch."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import NotSupportedError
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


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """The tensor itself: transforms do not wrap tensors here."""
    return tensor


def functionalize(func: Any, *, remove: str = "mutations") -> NoReturn:
    """Not there: programs are not traced."""
    raise NotSupportedError(
        "clarion does not have torch.func.functionalize: programs are not traced; write out of place"
    )


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> NoReturn:
    """Not there."""
    raise NotSupportedError("clarion does not have torch.func.rearrange: use reshape, permute and flatten")

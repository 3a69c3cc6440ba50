"""`torch._functorch.deprecated`: `functorch.*`, which says where each is to be found now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from .. import func
from ..func import functional_call as functional_call
from . import make_functional as _modules


def get_warning(api: str, new_api: str | None = None, replace_newlines: bool = False) -> str:
    """PyTorch's text."""
    text = (
        "We've integrated functorch into PyTorch. As the final step of the \n"
        f"integration, `functorch.{api}` is deprecated as of PyTorch \n"
        "2.0 and will be deleted in a future version of PyTorch >= 2.3. \n"
        f"Please use `{new_api or f'torch.func.{api}'}` instead; see the PyTorch 2.0 release notes \n"
        "and/or the `torch.func` migration guide for more details \n"
        "https://pytorch.org/docs/main/func.migrating.html"
    )
    return text.replace("\n", "") if replace_newlines else text


def _older(function: Callable[..., Any], new_api: str | None = None) -> Any:
    name = function.__name__

    @functools.wraps(function)
    def older(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(get_warning(name, new_api, replace_newlines=True), FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    return older


vmap = _older(func.vmap, "torch.vmap")
grad = _older(func.grad)
grad_and_value = _older(func.grad_and_value)
vjp = _older(func.vjp)
jvp = _older(func.jvp)
jacrev = _older(func.jacrev)
jacfwd = _older(func.jacfwd)
hessian = _older(func.hessian)
functionalize = _older(func.functionalize)
make_functional = _older(_modules.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _older(_modules.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _older(_modules.combine_state_for_ensemble, "torch.func.stack_module_state")

"""`torch._functorch.eager_transforms`: where PyTorch keeps the transforms of `torch.func`."""

from __future__ import annotations

from typing import Any

from ..func import functionalize as functionalize
from ..func import grad as grad
from ..func import grad_and_value as grad_and_value
from ..func import hessian as hessian
from ..func import jacfwd as jacfwd
from ..func import jacrev as jacrev
from ..func import jvp as jvp
from ..func import linearize as linearize
from ..func import vjp as vjp
from ..func.levels import Argnums as argnums_t
from ..func.levels import take


def _slice_argnums(args: tuple[Any, ...], argnums: argnums_t, as_tuple: bool = True) -> Any:
    """The arguments that are meant, in a tuple."""
    chosen = take(args, argnums)
    return (chosen,) if as_tuple and isinstance(argnums, int) else chosen
